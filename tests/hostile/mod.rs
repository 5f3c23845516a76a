//! What others may try with the program: each attack through the real binary, against services on
//! this machine: bounded time, bounded memory, nothing done that was not allowed.

mod addresses;
mod children;
mod fuzz;
mod loopback;
mod schemas;
mod servers;
