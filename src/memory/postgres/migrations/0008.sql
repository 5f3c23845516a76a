-- Sessions whose files could not be changed, when everything else has forgotten: a JSON array.
ALTER TABLE deletion ADD COLUMN files text NOT NULL DEFAULT '[]';
