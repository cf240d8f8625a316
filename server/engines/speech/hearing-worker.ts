import { availableParallelism } from 'node:os';
import { ALL_FORMATS, AudioSampleSink, BufferSource, Input } from 'mediabunny';
import { loadOptional, type Recognizer } from '#server/optional-packages.ts';
import { offerDecoder } from '../offer-decoder.ts';
import { serveThread } from '../thread-work.ts';
import type { HearJob } from './hear-task.ts';
import { modelIn } from './hear-model.ts';

/** Listens with a model in a folder, so that nothing else in the server stands still meanwhile. */

let ready: { folder: string; recognizer: Promise<Recognizer> } | null = null;

const load = async (folder: string): Promise<Recognizer> => {
  const { OfflineRecognizer } = await loadOptional('sherpa-onnx-node');
  return new OfflineRecognizer({
    modelConfig: {
      ...modelIn(folder),
      numThreads: Math.min(4, availableParallelism()),
      provider: 'cpu',
    },
  });
};

const recognizerOf = (folder: string): Promise<Recognizer> => {
  if (ready?.folder !== folder) ready = { folder, recognizer: load(folder) };
  return ready.recognizer;
};

serveThread<HearJob>(async ({ folder, data }, io) => {
  const recognizer = await recognizerOf(folder);
  const input = new Input({ source: new BufferSource(data), formats: ALL_FORMATS });
  const track = await input.getPrimaryAudioTrack();
  if (!track) return '';
  if (!(await track.canDecode())) await offerDecoder();
  const stream = recognizer.createStream();
  for await (const sample of new AudioSampleSink(track).samples()) {
    const samples = new Float32Array(sample.numberOfFrames);
    sample.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
    stream.acceptWaveform({ samples, sampleRate: sample.sampleRate });
    sample.close();
    await io.turn();
  }
  recognizer.decode(stream);
  return recognizer.getResult(stream).text.trim();
});
