import { useEffect, useRef } from 'react';
import { useWords } from '@/i18n/useWords';
import { codeReader } from './codes';
import classes from './check-in.module.css';

/** How often a picture of the camera is looked at, in milliseconds. */
const every = 150;
/** How long the same code is taken for the ticket that is still held there. */
const same = 4_000;

/** Why there are no pictures. */
export type CameraFault = 'refused' | 'missing';

async function open(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: 'environment', width: { ideal: 1280 }, height: { ideal: 720 } },
  });
}

const faultOf = (error: unknown): CameraFault =>
  error instanceof DOMException && ['NotAllowedError', 'SecurityError'].includes(error.name) ? 'refused' : 'missing';

/** The camera's picture, and the codes that it sees, each once. */
export function Scanner({ seen, failed }: { seen: (code: string) => void; failed: (fault: CameraFault) => void }) {
  const { t } = useWords();
  const video = useRef<HTMLVideoElement>(null);
  const on = useRef({ seen, failed });
  useEffect(() => {
    on.current = { seen, failed };
  });
  useEffect(() => {
    let ended = false;
    let stream: MediaStream | null = null;
    let timer: number | undefined;
    let last = { code: '', at: 0 };

    const start = async () => {
      const [opened, read] = await Promise.all([open(), codeReader()]);
      stream = opened;
      const shown = video.current;

      if (ended || !shown) {
        stop();
        return;
      }
      shown.srcObject = opened;
      await shown.play();
      const look = async () => {
        const code = await read(shown).catch(() => null);
        if (ended) return;
        const now = performance.now();
        if (code !== null) {
          if (code !== last.code || now - last.at > same) on.current.seen(code);
          last = { code, at: now };
        }
        timer = window.setTimeout(() => void look(), every);
      };
      void look();
    };
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
    };
    start().catch((error: unknown) => {
      stop();
      if (!ended) on.current.failed(faultOf(error));
    });
    return () => {
      ended = true;
      window.clearTimeout(timer);
      stop();
    };
  }, []);
  return (
    <div className={classes.camera}>
      {}
      <video ref={video} muted playsInline aria-label={t('checkIn.camera')} />
      <span className={classes.frame} aria-hidden />
    </div>
  );
}
