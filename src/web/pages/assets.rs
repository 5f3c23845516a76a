//! Files of the page, inside the program. Entry function: [`named`].

/// Lists files of `assets/web/` with their bytes.
macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../assets/web/", $name)).as_slice())),*]
    };
}

/// Everything that browsers load; files for type checkers are not here.
static FILES: [(&str, &[u8]); 25] = embedded![
    "app.js",
    "audio.js",
    "cards.js",
    "controls.js",
    "details.js",
    "dom.js",
    "help.js",
    "icon.svg",
    "index.html",
    "mic-worklet.js",
    "mic.js",
    "music-worklet.js",
    "music.js",
    "settings.js",
    "socket.js",
    "speaker-worklet.js",
    "speaker.js",
    "store.js",
    "style.css",
    "talk.js",
    "texts.js",
    "transcript.js",
    "turnbar.js",
    "why.js",
    "wire.js",
];

/// Media type and content of the file `name`; browsers run no script of another type.
pub fn named(name: &str) -> Option<(&'static str, &'static [u8])> {
    let (name, bytes) = FILES.iter().find(|(it, _)| *it == name)?;
    let kind = match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Some((kind, *bytes))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    #[test]
    fn every_file_of_the_page_is_inside() {
        let names = fs::read_dir("assets/web").unwrap().map(|it| it.unwrap().file_name());
        let names = names.map(|it| it.into_string().unwrap());
        let shown = names.filter(|it| !it.ends_with(".json") && !it.ends_with(".d.ts"));
        let shown: BTreeSet<String> = shown.collect();
        let embedded: BTreeSet<String> = FILES.iter().map(|(it, _)| (*it).to_owned()).collect();
        assert_eq!(embedded, shown);
        assert!(FILES.iter().all(|(name, _)| !named(name).unwrap().0.contains("octet-stream")));
    }
}
