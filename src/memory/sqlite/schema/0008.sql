-- Sessions whose files could not be changed, when everything else has forgotten: a JSON array.
ALTER TABLE deletion ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
