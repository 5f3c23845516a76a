//! Whole tables with scripted recognisers, models and voices, in paused time.

mod answering;
mod asked;
mod barge_in;
mod bills;
mod broken;
mod casting;
mod closing;
mod endings;
mod explaining;
mod falling_over;
mod going_on;
mod hearing;
mod late;
mod music;
mod orders;
pub mod parts;
mod paying;
mod queue;
mod sound;
pub mod stage;
mod steering;
mod summaries;
pub mod voices;
mod x_card;
