import type { Verdict } from './judge';

const key = 'rihla.check-in-sound';

export const soundIsOn = () => localStorage.getItem(key) !== 'off';
export function switchSound(on: boolean): void {
  localStorage.setItem(key, on ? 'on' : 'off');
}

/** Frequency in hertz and length in seconds, one after another; 0 is a pause. */
type Tune = readonly (readonly [number, number])[];

const yes: Tune = [
  [880, 0.09],
  [1320, 0.16],
];
const look: Tune = [
  [660, 0.12],
  [0, 0.06],
  [660, 0.12],
];
const no: Tune = [
  [180, 0.3],
  [0, 0.06],
  [140, 0.4],
];

const tunes: Record<Verdict, Tune> = {
  CHECKED_IN: yes,
  SAVED: yes,
  UNLISTED: look,
  ALREADY: look,
  CANCELLED: no,
  OTHER_TRIP: no,
  INVALID: no,
};

let context: AudioContext | null = null;

/** Browsers let a page sound after a press only: to be called in one. */
export function allowSound(): void {
  context ??= new AudioContext();
  if (context.state === 'suspended') void context.resume();
}

/** Yes rises, no is low and long, and look is twice the same: they are told apart without looking, also by a short vibration. */
export function play(verdict: Verdict): void {
  const tune = tunes[verdict];
  if (!soundIsOn()) return;
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- not every browser has it
  navigator.vibrate?.(tune.map(([, seconds]) => seconds * 1000));
  if (!context) return;
  let at = context.currentTime;
  for (const [frequency, seconds] of tune) {
    if (frequency > 0) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.type = tune === no ? 'square' : 'sine';
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.25, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
      tone.connect(volume).connect(context.destination);
      tone.start(at);
      tone.stop(at + seconds);
    }
    at += seconds;
  }
}
