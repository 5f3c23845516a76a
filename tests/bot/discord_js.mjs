// A player on discord.js, for discord_js.rs.
//
// usage: node discord_js.mjs SETTINGS, which are JSON: "packages" (the folder with node_modules),
// "api", "token", "guild", "channel", and "hears", the user whose sound is kept.
//
// Orders are lines on stdin; each is answered, once it is done, by a line of JSON on stdout that
// holds it as "done". At the end of stdin the player leaves. Sound in files is raw: mono, 48 kHz,
// 16 bits, little endian.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const settings = JSON.parse(process.argv[2]);
const load = createRequire(`${settings.packages}/`);
const { Client, Events, GatewayIntentBits } = load('discord.js');
const voice = load('@discordjs/voice');
const OpusScript = load('opusscript');

/** Samples of a second. */
const RATE = 48_000;
/** Mean level of a packet, of 32,768, from which on it is heard. */
const AUDIBLE = 200;
/** How long nothing is heard once a speaker has come to an end, in ms. */
const QUIET = 700;
/** Between packets so far apart, in ms, was a pause; it is kept up to the longest. */
const PAUSE = { shortest: 100, longest: 1_000 };
/** Longest wait for anything, in ms. */
const BOUND = 180_000;

const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates],
  rest: { api: settings.api },
});
const speaker = voice.createAudioPlayer();
let connection;
let heard = forgotten();

/** What is known of what was heard, when nothing was. */
function forgotten() {
  return { sound: [], undecodable: 0, packet: 0, first: 0, last: 0 };
}

/** Keeps what the other one says, until the connection ends. */
function listen() {
  const decoder = new OpusScript(RATE, 1, OpusScript.Application.VOIP);
  const end = { behavior: voice.EndBehaviorType.Manual };
  const packets = connection.receiver.subscribe(settings.hears, { end });
  packets.on('data', (packet) => keep(decoder, packet));
  // A packet that does not decrypt ends the stream; the next ones may be good.
  packets.on('error', () => { heard.undecodable += 1; });
  packets.on('close', () => {
    decoder.delete();
    if (connection.state.status !== voice.VoiceConnectionStatus.Destroyed) listen();
  });
}

/** Keeps one packet of Opus. */
function keep(decoder, packet) {
  let sound;
  try {
    sound = Buffer.from(decoder.decode(packet));
  } catch {
    // Before this player is in the group it is given what is encrypted for others.
    heard.undecodable += 1;
    return;
  }
  const now = Date.now();
  const pause = Math.min(now - heard.packet, PAUSE.longest);
  if (pause > PAUSE.shortest) heard.sound.push(Buffer.alloc(Math.floor(pause * RATE / 1_000) * 2));
  heard.packet = now;
  heard.sound.push(sound);
  let level = 0;
  for (let at = 0; at < sound.length; at += 2) level += Math.abs(sound.readInt16LE(at));
  if (level / (sound.length / 2) < AUDIBLE) return;
  heard.last = now;
  heard.first ||= now;
}

/** Waits until `so` is true. */
async function until(what, so) {
  const end = Date.now() + BOUND;
  while (!so()) {
    if (Date.now() > end) throw new Error(`still not after ${BOUND} ms: ${what}`);
    await sleep(20);
  }
}

const orders = {
  /** Sits down in the channel. */
  async join() {
    const guild = client.guilds.cache.get(settings.guild);
    connection = voice.joinVoiceChannel({
      guildId: settings.guild,
      channelId: settings.channel,
      adapterCreator: guild.voiceAdapterCreator,
      selfDeaf: false,
    });
    await voice.entersState(connection, voice.VoiceConnectionStatus.Ready, BOUND);
    connection.subscribe(speaker);
    listen();
  },

  /** Says what is in a file. */
  async say(file) {
    const mono = readFileSync(file);
    const stereo = Buffer.alloc(mono.length * 2);
    for (let at = 0; at < mono.length; at += 2) {
      mono.copy(stereo, at * 2, at, at + 2);
      mono.copy(stereo, at * 2 + 2, at, at + 2);
    }
    const inputType = voice.StreamType.Raw;
    // Pieces of 20 ms, as a microphone gives them.
    const pieces = [];
    for (let at = 0; at < stereo.length; at += 3_840) pieces.push(stereo.subarray(at, at + 3_840));
    speaker.play(voice.createAudioResource(Readable.from(pieces), { inputType }));
    await voice.entersState(speaker, voice.AudioPlayerStatus.Playing, BOUND);
    await voice.entersState(speaker, voice.AudioPlayerStatus.Idle, BOUND);
  },

  /** Forgets what was heard. */
  forget() {
    heard = forgotten();
  },

  /** Waits until somebody is heard. */
  hears: () => until('hears', () => heard.first > 0),

  /** Waits until nobody is heard any more. */
  quiet: () => until('quiet', () => Date.now() - heard.last > QUIET),

  /** Writes what was heard into a file. */
  keep(file) {
    const sound = Buffer.concat(heard.sound);
    writeFileSync(file, sound);
    return { seconds: sound.length / 2 / RATE, undecodable: heard.undecodable };
  },
};

/** Tells the test. */
function tell(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

const ready = once(client, Events.ClientReady);
await client.login(settings.token);
await ready;
tell({ done: 'login', user: client.user.id });
for await (const line of createInterface({ input: process.stdin })) {
  const [order, argument] = line.split(/ (.*)/);
  const more = await orders[order](argument);
  tell({ done: order, ...more });
}
connection?.destroy();
await client.destroy();
