//! The program against counterparts that want it dead: bounded time, bounded memory, nothing done
//! that was not allowed.

mod fuzz;
mod schemas;
mod servers;
