//! The bot, as the real program, at tables of a Discord on this machine.

mod arriving;
mod commands;
mod consolidating;
mod discord_js;
mod figures;
mod four_engines;
pub mod hall;
mod hosting;
mod interrupting;
mod keeping;
mod limits;
mod music;
mod names;
mod outside;
mod pictures;
mod reloading;
mod remembering;
mod scheduling;
mod searching;
mod setting_up;
mod talking;
mod unheard;
mod voice_models;
mod voiceless;
mod weather;
mod workflows;
mod world;
