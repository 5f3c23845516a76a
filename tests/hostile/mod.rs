//! What others may try with the program: each attack through the real binary, against services on
//! this machine.

mod addresses;
mod approvals;
mod children;
mod guilds;
mod loopback;
mod money;
mod words;
