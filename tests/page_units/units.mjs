// Checks of the page's modules that need no browser. Worklets find their globals here.

import assert from 'node:assert/strict'

globalThis.sampleRate = 48_000
globalThis.AudioWorkletProcessor = class {
  sent = []
  port = { postMessage: (message) => this.sent.push(message) }
}
const processors = {}
globalThis.registerProcessor = (name, processor) => (processors[name] = processor)

const { Resampler } = await import('./mic-worklet.js')
const { Ring } = await import('./speaker-worklet.js')
const { MusicBuffer } = await import('./music-worklet.js')
const { Gate, problemOf } = await import('./mic.js')
const { Music } = await import('./music.js')
const { Speaker } = await import('./speaker.js')
const { Tab } = await import('./socket.js')
const { Store } = await import('./store.js')
const { stages } = await import('./turnbar.js')
const { MUSIC_BYTES, isMusic, read } = await import('./wire.js')

/** Level of a tone after the way to 16 kHz, as a share of what it was; and how many samples are to come. */
function through(rate, hertz) {
  const resampler = new Resampler(rate)
  const out = []
  let at = 0
  for (let block = 0; block < rate / 128; block++) {
    const samples = Float32Array.from({ length: 128 }, () => Math.sin((2 * Math.PI * hertz * at++) / rate))
    resampler.push(samples, (sample) => out.push(sample))
  }
  const middle = out.slice(1000, 15_000)
  const rms = Math.sqrt(middle.reduce((sum, it) => sum + it * it, 0) / middle.length)
  return { gain: rms * Math.SQRT2, missing: (at * 16_000) / rate - out.length }
}

for (const rate of [8_000, 16_000, 44_100, 48_000, 96_000]) {
  const speech = through(rate, 300)
  assert.ok(Math.abs(speech.gain - 1) < 0.01 && speech.missing >= 0 && speech.missing < 40, `${rate}`)
  // Above half the rate nothing may fold back.
  if (rate > 20_000) assert.ok(through(rate, 10_000).gain < 0.01, `${rate}`)
}

const microphone = new processors.microphone()
for (let block = 0; block < 375; block++) microphone.process([[new Float32Array(128).fill(0.1)]])
assert.equal(microphone.sent.length, 49)
assert.ok(microphone.sent.every(({ frame }) => frame.byteLength === 640))
assert.ok(Math.abs(microphone.sent[5].rms - 0.1) < 0.001)

const pcm = (length, value) => new Int16Array(length).fill(value)
const play = (ring, most = Infinity) => {
  let played = 0
  while (played < most && ring.next(1) !== null) played += 1
  return played
}
{
  const ring = new Ring()
  ring.push(1, pcm(960, 1000))
  ring.push(2, pcm(960, 2000))
  ring.push(1, pcm(960, 3000))
  play(ring, 500)
  assert.deepEqual(ring.report(), [{ turn: 1, samples: 500 }])
  // What is left of the other turn plays on, at once.
  ring.flush(1)
  assert.equal(Math.round(ring.next(1) * 32_768), 2000)
  assert.equal(play(ring), 959)
  assert.deepEqual(ring.report(), [{ turn: 2, samples: 960 }])
  // A stopped turn fades out, which does not count as played.
  ring.push(3, pcm(960, 8192))
  play(ring, 100)
  const tail = ring.flush(3)
  assert.equal(tail.length, 240)
  assert.ok(tail[0] === 0.25 && tail[239] > 0 && tail[239] < 0.002)
  assert.deepEqual([play(ring), ring.flush(3).length, ring.report()], [0, 0, [{ turn: 3, samples: 100 }]])
  // Music belongs to no turn.
  ring.push(null, pcm(960, 1))
  assert.equal(play(ring), 960)
  assert.deepEqual(ring.report(), [])
  // The buffer is used again from its start.
  for (let turn = 4; turn < 700; turn++) {
    ring.push(turn, pcm(960, 1))
    assert.equal(play(ring), 960)
    assert.deepEqual(ring.report(), [{ turn, samples: 960 }])
  }
  // What has no room is dropped, and never counted.
  ring.push(9, pcm(600_000, 1))
  assert.ok(ring.written - ring.read < 1 << 19)
  ring.clear()
  assert.equal(ring.next(1), null)
  assert.deepEqual(ring.report(), [])
}

const speaker = new processors.loudspeaker()
speaker.port.onmessage({ data: { turn: 1, sound: pcm(4800, 8000).buffer } })
for (let block = 0; block < 40; block++) speaker.process([], [[new Float32Array(128)]])
const reported = speaker.sent.flatMap(({ played }) => played)
assert.equal(reported.reduce((sum, { samples }) => sum + samples, 0), 4800)
speaker.port.onmessage({ data: { flush: 1 } })
assert.equal(speaker.sent.at(-1).flushed, 1)

{
  // Sound that no one can hear is played by a clock; in a hidden page, whose clock is slow, at once.
  globalThis.document = { hidden: true, addEventListener: () => {} }
  const told = []
  const audio = { isRunning: true, onOpen: () => {}, onState: (listener) => (audio.changed = listener) }
  const player = new Speaker(audio, (turn, samples) => told.push([turn, samples]), () => {})
  player.node = { port: { postMessage: () => {} } }
  player.begin(5)
  player.push(pcm(960, 1).buffer)
  player.push(pcm(960, 1).buffer)
  assert.ok(player.take(5, 960))
  player.count(5, 960)
  // The device goes away while the worklet still has sound; its late report counts no more.
  audio.isRunning = false
  audio.changed()
  assert.ok(!player.take(5, 960))
  player.push(pcm(960, 1).buffer)
  assert.deepEqual(told, [[5, 960], [5, 1920], [5, 2880]])
  assert.ok(!player.hasUnheard && player.clock === null)
  // Seen again, it plays in real time, and says so once a time.
  document.hidden = false
  for (let frame = 0; frame < 5; frame++) player.push(pcm(960, 1).buffer)
  player.clockAt = performance.now() - 60
  player.tick()
  assert.equal(told.length, 4)
  assert.ok(told[3][1] >= 2880 + 2880 && told[3][1] < 2880 + 4800)
  player.flush(5)
  assert.ok(!player.hasUnheard)
  player.tick()
  delete globalThis.document
}

const stereo = (left, right) => Int16Array.from({ length: MUSIC_BYTES / 2 }, (_, i) => (i % 2 ? right : left))
assert.deepEqual([stereo(1, 2).buffer, pcm(960, 1).buffer].map(isMusic), [true, false])

/** What a buffer of music plays, by channel. */
const playMusic = (buffer, length, step = 1) => {
  const channels = [new Float32Array(length), new Float32Array(length)]
  buffer.fill(channels, step)
  return channels
}
/** The largest step from one sample to the next. */
const steepest = (samples) => samples.reduce((most, it, i) => Math.max(most, i && Math.abs(it - samples[i - 1])), 0)
for (const step of [1, 48 / 44.1]) {
  const buffer = new MusicBuffer()
  const heard = []
  const plays = (length) => heard.push(...playMusic(buffer, length, step)[0])
  const level = () => heard.at(-1) * 32_768
  buffer.push(stereo(16_384, -8192))
  plays(4800)
  assert.equal(level(), 0, 'it waits for more')
  for (let frame = 0; frame < 9; frame++) buffer.push(stereo(16_384, -8192))
  plays(2400)
  const [left, right] = playMusic(buffer, 1, step)
  assert.deepEqual([left[0], right[0]].map((it) => Math.round(it * 32_768)), [16_384, -8192])
  // Too much: the oldest goes.
  for (let frame = 0; frame < 30; frame++) buffer.push(stereo(-16_384, -16_384))
  assert.ok(buffer.written - buffer.read <= 19_200)
  plays(2400)
  assert.equal(Math.round(level()), -16_384)
  plays(40_000)
  assert.ok(Math.abs(level()) < 1, 'it is dry')
  // What is shorter than the buffer plays to its end, once.
  buffer.push(stereo(8192, 8192))
  plays(Math.floor(9_000 / step))
  assert.ok(Math.abs(level()) < 1)
  plays(Math.floor(1_500 / step))
  assert.ok(Math.abs(level() - 8192) < 10)
  for (let frame = 0; frame < 10; frame++) buffer.push(stereo(8192, 8192))
  plays(480)
  buffer.clear()
  plays(4800)
  assert.ok(Math.abs(level()) < 1)
  assert.ok(steepest(heard) < 0.02, 'it clicks')
}

{
  // Music is lost while nothing sounds, and needs a loudspeaker of its own from the first on.
  const made = []
  globalThis.AudioWorkletNode = class {
    sent = []
    port = { postMessage: (message) => this.sent.push(message) }
    connect = (to) => made.push([this, to])
  }
  const audio = { context: null, isRunning: false, onState: (listener) => (audio.changed = listener) }
  const music = new Music(audio)
  music.push(stereo(1, 1).buffer)
  assert.deepEqual([music.isUnheard, music.frames], [true, 0])
  Object.assign(audio, { context: { destination: 'loudspeaker' }, isRunning: true })
  music.push(stereo(1, 1).buffer)
  music.push(stereo(1, 1).buffer)
  assert.deepEqual([music.isUnheard, music.frames, made.length, made[0][1]], [false, 2, 1, 'loudspeaker'])
  audio.isRunning = false
  audio.changed()
  assert.deepEqual(made[0][0].sent.map(Object.keys), [['sound'], ['sound'], ['clear']])
}

// An open microphone does not take the NPC for a player.
const gate = new Gate()
assert.ok(gate.passes(0.001, false))
assert.deepEqual([0.1, 0.1, 0.1].map((rms) => gate.passes(rms, true)), [false, false, true])

assert.equal(problemOf(new DOMException('', 'NotAllowedError')), 'denied')
assert.equal(problemOf(new DOMException('', 'NotFoundError')), 'missing')
assert.equal(problemOf(new DOMException('', 'NotReadableError')), 'busy')
for (const text of ['', 'null', '[1]', '{"type":1}', '{']) assert.equal(read(text), null, text)

{
  // A reloaded page is the same tab; a copy of a tab, made while its page runs, is another one.
  const [stored, listeners] = [new Map(), {}]
  const sessionStorage = {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => stored.set(key, value),
    removeItem: (key) => stored.delete(key),
  }
  Object.defineProperty(globalThis, 'sessionStorage', { value: sessionStorage, configurable: true })
  globalThis.addEventListener = (name, listener) => (listeners[name] = listener)
  const tab = new Tab()
  assert.match(tab.name, /^[0-9a-f]{32}$/)
  assert.equal(stored.size, 0)
  listeners.pagehide()
  const reloaded = new Tab()
  assert.deepEqual([reloaded.name, stored.size], [tab.name, 0])
  listeners.pagehide()
  listeners.pageshow()
  assert.equal(stored.size, 0)
  reloaded.renew()
  assert.notEqual(reloaded.name, tab.name)
}

const ms = {
  speech_end_to_final: 180,
  final_to_first_text: 0,
  first_text_to_first_audio: 90,
  speech_end_to_first_audio: 270,
}
const line = (changed) => ({
  turn: 1,
  speaker: 'Max',
  heard: 'Hi',
  npc: 'Bartok',
  reply: 'Yes?',
  outcome: 'spoken',
  spent: 0.01,
  ms,
  tools: [],
  visible: [],
  ...changed,
})
assert.deepEqual(stages(line({})).map(({ kind }) => kind), ['heard', 'voice'])

const said = (text, id) => ({ type: 'said', player: 'Max', text, id })
const turn = (number, state) => ({ type: 'turn', turn: number, state, npc: 'Bartok' })
const after = (...messages) => {
  const store = new Store()
  for (const message of messages) store.apply(message)
  return store.state
}
{
  // Partial words, the whole, the turn and its line are one exchange.
  const partial = { type: 'partial', player: 'Max', text: 'H' }
  const state = after(partial, said('Hi', 1), turn(7, 'thinking'), turn(7, 'speaking'), { type: 'line', line: line({ turn: 7 }) })
  assert.deepEqual([state.items.length, state.partials.size, state.turn], [1, 0, null])
  assert.equal(state.items[0].line.reply, 'Yes?')
}
{
  // An NPC may think before the words are told, about a guess that is dropped.
  const state = after(turn(1, 'thinking'), said('Hi', 1), turn(1, 'idle'), turn(2, 'thinking'), { type: 'line', line: line({ turn: 2 }) })
  assert.equal(state.items.length, 1)
  assert.equal(after(turn(1, 'thinking'), turn(1, 'idle')).items.length, 0)
}
{
  // A player who goes on changes what was said; no NPC's line has no turn.
  const nobody = line({ turn: null, heard: 'Hi you', npc: null, reply: '', outcome: 'nobody_addressed' })
  const state = after(said('Hi', 1), said('Hi you', 1), { type: 'line', line: nobody })
  assert.equal(state.items.length, 1)
  assert.equal(state.items[0].text, 'Hi you')
}
{
  // The cost of a line is what was spent since the last one.
  const unasked = line({ turn: 2, speaker: '', heard: '', reply: 'Welcome.', spent: 0.03 })
  const state = after(said('Hi', 1), { type: 'line', line: line({}) }, turn(2, 'speaking'), { type: 'line', line: unasked })
  assert.equal(state.items.length, 2)
  assert.ok(Math.abs(state.items[1].cost - 0.02) < 1e-9)
  assert.equal(state.items[1].player, null)
}
{
  // Turns count from 1 again after a restart of the program.
  const store = new Store()
  store.apply(said('Hi', 1))
  store.apply({ type: 'line', line: line({}) })
  store.apply({ type: 'mistakes', files: [{ file: 'glyphoxa.yaml', line: 3, text: 'x' }] })
  store.reset()
  assert.equal(store.state.mistakes.length, 0, 'they may be fixed by now')
  store.apply(said('Hello', 1))
  store.apply(turn(1, 'speaking'))
  assert.equal(store.state.items.length, 2)
  assert.equal(store.state.items[1].turn, 1)
  for (let i = 0; i < 400; i++) store.apply({ type: 'notice', text: 'x', private: false })
  assert.equal(store.state.items.length, 300)
}

const welcome = (session, removals) => ({
  type: 'welcome', player: 'Max', npcs: [], scene: {}, services: {}, again: false, session, removals,
})
/** Two exchanges of Max and one of Ada, lines 1 to 3, and words of Max that wait for an answer. */
const talked = () => {
  const store = new Store()
  store.apply(welcome('one', 0))
  const told = [['Max', 'Hi'], ['Ada', 'Ale!'], ['Max', 'A song']]
  told.forEach(([player, text], at) => {
    store.apply({ type: 'said', player, text, id: at + 1 })
    store.apply(turn(at + 10, 'speaking'))
    store.apply({ type: 'line', number: at + 1, line: line({ turn: at + 10, speaker: player, heard: text }) })
  })
  store.apply(said('And now', 4))
  store.apply(turn(13, 'thinking'))
  store.apply({ type: 'partial', player: 'Max', text: 'wh' })
  store.apply({ type: 'why', turn: 12, parts: [], recalled: [], tools: [] })
  store.apply({ type: 'notice', text: 'It rains.', private: false })
  return store
}
const shown = ({ state }) => state.items.map(({ text }) => text)
{
  // An X-card takes its lines and all that waits; the rest stays.
  const store = talked()
  store.apply({ type: 'taken_back', lines: [2, 3], removals: 1 })
  assert.deepEqual(shown(store), ['Hi', 'It rains.'])
  assert.deepEqual([store.state.partials.size, store.state.why], [0, null])
  store.apply(turn(13, 'idle'))
  store.apply({ type: 'line', number: 4, line: line({ turn: null, speaker: 'somebody', heard: '', reply: '', outcome: 'cancelled' }) })
  assert.deepEqual(shown(store), ['Hi', 'It rains.', ''])
}
{
  // A deletion takes the player's words and the answers, also those of an earlier run.
  const store = talked()
  store.reset()
  store.apply(welcome('two', 0))
  store.apply({ type: 'taken_back', lines: [1], removals: 1 })
  assert.deepEqual(shown(store), ['Hi', 'Ale!', 'A song', 'It rains.'], 'line 1 of the other run stays')
  store.apply({ type: 'forgotten', player: 'Max', removals: 2 })
  assert.deepEqual(shown(store), ['Ale!', 'It rains.'])
}
{
  // Lines keep their numbers while the program runs; what the page has missed takes everything.
  const store = talked()
  store.reset()
  store.apply(welcome('one', 0))
  store.apply({ type: 'taken_back', lines: [3], removals: 1 })
  assert.deepEqual(shown(store), ['Hi', 'Ale!', 'It rains.'])
  store.reset()
  store.apply(welcome('one', 2))
  assert.deepEqual(shown(store), ['It rains.'])
  const other = talked()
  other.apply({ type: 'forgotten', player: 'Ada', removals: 3 })
  assert.deepEqual(shown(other), ['It rains.'])
  const last = talked()
  last.apply({ type: 'cleared', removals: 1 })
  assert.deepEqual(shown(last), ['It rains.'])
}

console.log('passed')
