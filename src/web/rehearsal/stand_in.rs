//! Pages without sockets, for tests.

use super::{
    audience::Audience,
    pages::{Joined, Page, PageQueue, Pages},
};
use crate::web::pages::Pass;

/// Pages in this audience, and what they are sent.
pub async fn opened<const COUNT: usize>(audience: &Audience) -> [(Page, PageQueue); COUNT] {
    let (pages, mut newcomers) = Pages::new(COUNT, 0);
    let (mut all, mut places) = (Vec::new(), Vec::new());
    for _ in 0..COUNT {
        let pass = Pass { session: "ada".to_owned(), player: 1, issued: 1 };
        let place = pages.admit(&pass, None).unwrap();
        let queue = place.join("Ada".to_owned()).await.unwrap();
        let Joined { page, place, .. } = newcomers.recv().await.unwrap();
        audience.call(&page, "Ada");
        audience.open(page.id);
        all.push((page, queue));
        places.push(place);
    }
    all.try_into().unwrap_or_else(|_| panic!("as many as wanted"))
}
