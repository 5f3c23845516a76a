//! Sounds without speech.

use std::f32::consts::TAU;

/// Samples per second.
const RATE: usize = 16_000;

/// Name and sound, three seconds each.
pub fn all() -> Vec<(&'static str, Vec<f32>)> {
    let mut seed = 1u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let count = 3 * RATE;
    let tone = |hertz: f32, i: usize| (TAU * hertz * i as f32 / RATE as f32).sin();
    let noise: Vec<f32> = (0..count).map(|_| 0.1 * random()).collect();
    let mut low = 0.0;
    let rumble = noise.iter().map(|x| {
        low += 0.02 * (x - low);
        10.0 * low
    });
    // a burst of noise that dies away within 20 ms
    let fades = |i: usize, every: usize| (-((i % every) as f32) / 80.0).exp();
    let hum = |i: usize| 0.05 * (tone(50.0, i) + 0.5 * tone(100.0, i) + 0.3 * tone(150.0, i));
    let chord = |i: usize| 0.1 * (tone(261.6, i) + tone(329.6, i) + tone(392.0, i));
    let melody = |i: usize| 0.2 * tone([262.0, 294.0, 330.0, 349.0, 392.0, 440.0][i / 8000], i);
    let breath = |i: usize, x: &f32| x * 0.5 * (TAU * i as f32 / RATE as f32 / 1.5).sin().max(0.0);
    // five falling bursts a second of a voice without words
    let mut phase = 0.0f32;
    let laughter = (0..count).map(|i| {
        let time = i as f32 / RATE as f32;
        phase = (phase + (260.0 - 40.0 * time) / RATE as f32).fract();
        let voice: f32 =
            [1.0, 2.0, 3.0, 4.0, 5.0].iter().map(|n| (TAU * n * phase).sin() / n).sum();
        let within = (time * 5.0).fract();
        if within < 0.5 { 0.3 * voice * (TAU * within).sin() } else { 0.0 }
    });
    vec![
        ("digital silence", vec![0.0; count]),
        ("faint noise", noise.iter().map(|x| x / 100.0).collect()),
        ("white noise", noise.clone()),
        ("rumble", rumble.collect()),
        ("mains hum", (0..count).map(hum).collect()),
        ("chord", (0..count).map(chord).collect()),
        ("melody", (0..count).map(melody).collect()),
        ("one click", (0..count).map(|i| 5.0 * noise[i] * fades(i + 8000, count)).collect()),
        ("clicks, 4 a second", (0..count).map(|i| 5.0 * noise[i] * fades(i, 4000)).collect()),
        ("keys, 10 a second", (0..count).map(|i| 2.0 * noise[i] * fades(i, 1600)).collect()),
        ("breath", noise.iter().enumerate().map(|(i, x)| breath(i, x)).collect()),
        ("cough", (0..count).map(|i| 8.0 * noise[i] * (-(i as f32) / 2500.0).exp()).collect()),
        ("laughter", laughter.collect()),
        ("music", music(&noise)),
        ("dice on a table", dice(&noise)),
        ("a door", door(&noise)),
    ]
}

/// A band: three chords on trembling strings, a bass, a drum on each beat and a hiss between.
fn music(noise: &[f32]) -> Vec<f32> {
    // C, a minor, F: two beats of half a second each
    let chords = [[261.6, 329.6, 392.0], [220.0, 261.6, 329.6], [174.6, 220.0, 261.6]];
    let note = |hertz: f32, time: f32, overtones: u32| -> f32 {
        let trembling = time + 0.0006 * (TAU * 5.5 * time).sin();
        (1..=overtones).map(|n| (TAU * hertz * n as f32 * trembling).sin() / n as f32).sum()
    };
    let sample = |(i, noise): (usize, &f32)| {
        let time = i as f32 / RATE as f32;
        let [beat, between] = [(2.0 * time).fract(), (2.0 * time + 0.5).fract()];
        let chord = chords[i / RATE % chords.len()];
        let strings: f32 = chord.iter().map(|hertz| note(*hertz, time, 6)).sum();
        let bass = note(chord[0] / 4.0, time, 3) * (-3.0 * beat).exp();
        let drum = (TAU * (50.0 * beat + 12.0 * (1.0 - (-20.0 * beat).exp()))).sin();
        let drum = drum * (-12.0 * beat).exp();
        let hiss = 10.0 * noise * (-25.0 * between).exp();
        0.05 * strings + 0.15 * bass + 0.3 * drum + 0.1 * hiss
    };
    noise.iter().enumerate().map(sample).collect()
}

/// Two dice thrown every second: knocks that get closer and fainter.
fn dice(noise: &[f32]) -> Vec<f32> {
    let knocks = [0.0, 0.012, 0.14, 0.17, 0.25, 0.29, 0.34, 0.37, 0.40, 0.42, 0.435, 0.45];
    let sample = |(i, noise): (usize, &f32)| {
        let time = (i as f32 / RATE as f32).fract();
        let knock = |(n, at): (usize, &f32)| {
            let since = time - at;
            if since < 0.0 {
                return 0.0;
            }
            let wood = (TAU * (900.0 + 130.0 * (n % 4) as f32) * since).sin();
            (wood + 5.0 * noise) * (-since / 0.006).exp() * 0.85f32.powf(n as f32)
        };
        0.4 * knocks.iter().enumerate().map(knock).sum::<f32>()
    };
    noise.iter().enumerate().map(sample).collect()
}

/// A hinge that creaks for a second and a half, then a door that shuts.
fn door(noise: &[f32]) -> Vec<f32> {
    let mut phase = 0.0f32;
    let sample = |(i, noise): (usize, &f32)| {
        let time = i as f32 / RATE as f32;
        if time < 1.5 {
            // sticks and slips, faster and faster, and rings at 700 and 1,900 Hz
            phase = (phase + (35.0 + 45.0 * time) / RATE as f32).fract();
            let since = phase / (35.0 + 45.0 * time);
            let rings = (TAU * 700.0 * since).sin() + 0.6 * (TAU * 1_900.0 * since).sin();
            return 0.2 * rings * (-since / 0.004).exp();
        }
        let since = time - 1.6;
        if since < 0.0 {
            return 0.0;
        }
        let boom = (TAU * 70.0 * since).sin() * (-since / 0.12).exp();
        0.6 * boom + 6.0 * noise * (-since / 0.03).exp()
    };
    noise.iter().enumerate().map(sample).collect()
}
