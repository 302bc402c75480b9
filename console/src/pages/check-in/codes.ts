/** Reads the code in a picture; null when there is none. */
export type ReadCode = (picture: HTMLVideoElement | ImageBitmap) => Promise<string | null>;

interface Detector {
  detect: (picture: CanvasImageSource) => Promise<{ rawValue: string }[]>;
}
interface DetectorClass {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats: () => Promise<string[]>;
}

/** What the browser has itself, which is quickest. Types of TypeScript do not know it. */
async function ownReader(): Promise<ReadCode | null> {
  const Own = (globalThis as { BarcodeDetector?: DetectorClass }).BarcodeDetector;
  if (!Own || !(await Own.getSupportedFormats()).includes('qr_code')) return null;
  const detector = new Own({ formats: ['qr_code'] });
  return async (picture) => (await detector.detect(picture))[0]?.rawValue ?? null;
}

/** The longer side of what is looked at, in pixels: the squares of a long code are still told apart, and it takes some milliseconds. */
const longest = 1000;

/** In JavaScript, for the browsers that have none: Safari and Firefox. It is loaded with this page alone. */
async function libraryReader(): Promise<ReadCode> {
  const { decodeQR } = await import('qr/decode.js');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return (picture) => {
    const [width, height] =
      picture instanceof HTMLVideoElement ? [picture.videoWidth, picture.videoHeight] : [picture.width, picture.height];
    if (!context || width === 0 || height === 0) return Promise.resolve(null);
    const scale = Math.min(1, longest / Math.max(width, height));
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    try {
      return Promise.resolve(decodeQR(context.getImageData(0, 0, canvas.width, canvas.height)));
    } catch {
      return Promise.resolve(null);
    }
  };
}

let reader: Promise<ReadCode> | null = null;

/** The reader of this browser. Once it is loaded it needs no network. */
export function codeReader(): Promise<ReadCode> {
  reader ??= ownReader()
    .catch(() => null)
    .then((own) => own ?? libraryReader())
    .catch((error: unknown) => {
      reader = null;
      throw error;
    });
  return reader;
}

/** The code in a file with a picture. */
export async function codeInFile(file: Blob): Promise<string | null> {
  const [read, picture] = await Promise.all([codeReader(), createImageBitmap(file)]);
  try {
    return await read(picture);
  } finally {
    picture.close();
  }
}
