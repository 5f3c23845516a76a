// Instruments of the tests in every page, loaded before its own scripts: what goes to the loudspeaker is
// recorded, and the microphone's sound comes as it is in the file, without the browser's processing, which
// changes how loud words are. Times are of performance.now().
(() => {
  const LOUD = 0.004
  const BLOCK = 1024
  const taps = new Set()
  let chunks = []
  let rate = 0
  let loudBlocks = 0
  let firstSound = null
  let lastWord = null
  let lastSound = null

  const level = (samples) => {
    let squares = 0
    for (const sample of samples) squares += sample * sample
    return Math.sqrt(squares / samples.length)
  }

  const connect = AudioNode.prototype.connect

  // Calls `hear` with each block that `node` gives.
  const tap = (node, hear) => {
    const context = node.context
    const ear = context.createScriptProcessor(BLOCK, 1, 1)
    taps.add(ear)
    ear.onaudioprocess = ({ inputBuffer }) => hear(inputBuffer.getChannelData(0), context.sampleRate)
    connect.call(node, ear)
    // Without a way on it would not run; it gives silence.
    connect.call(ear, context.destination)
  }

  const hearLoudspeaker = (samples, itsRate) => {
    rate = itsRate
    chunks.push(Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 32767))
    if (level(samples) > LOUD) {
      loudBlocks += 1
      lastSound = performance.now()
      firstSound ??= lastSound
    }
  }

  const hearMicrophone = (samples) => {
    if (firstSound === null && level(samples) > LOUD) lastWord = performance.now()
  }

  const tapped = new WeakSet()
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode && !tapped.has(this)) {
      tapped.add(this)
      tap(this, hearLoudspeaker)
    }
    return connect.call(this, to, ...rest)
  }

  const devices = navigator.mediaDevices
  if (devices) {
    const open = devices.getUserMedia.bind(devices)
    devices.getUserMedia = async (wanted) => {
      const audio = typeof wanted.audio === 'object' ? wanted.audio : {}
      const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
      const stream = await open({ ...wanted, audio: { ...audio, ...plain } })
      tap(new AudioContext().createMediaStreamSource(stream), hearMicrophone)
      return stream
    }
  }

  globalThis.instruments = {
    listenFromNow() {
      chunks = []
      loudBlocks = 0
      firstSound = null
      lastWord = null
    },
    isListening: () => rate !== 0,
    // Milliseconds since the last sound that was played.
    quietFor: () => performance.now() - (lastSound ?? 0),
    loudSeconds: () => (rate === 0 ? 0 : (loudBlocks * BLOCK) / rate),
    // From the microphone's last loud block to the first one that was played, in ms.
    answeredAfter: () => (firstSound === null || lastWord === null ? null : firstSound - lastWord),
    played() {
      let bytes = ''
      for (const chunk of chunks) {
        const all = new Uint8Array(chunk.buffer)
        for (const byte of all) bytes += String.fromCharCode(byte)
      }
      return { rate, samples: btoa(bytes) }
    },
  }
})()
