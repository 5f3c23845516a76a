//! What a session sends and tells, without a socket.
