import { router } from '@/app/router';
import ui from '@/components/ui.module.css';

/** What was done, in a sentence, and where it can be looked at. */
export type Done = string | { text: string; to: string; label: string };

/** An answer of a form that says more than was known before it was sent. */
export class Said {
  constructor(readonly done: Done) {}
}

/** What a notification says; it is outside of the pages, so that its link goes through the router itself. */
export function Toast({ done }: { done: Done }) {
  if (typeof done === 'string') return <>{done}</>;
  return (
    <>
      {done.text}{' '}
      <button type="button" className={ui.link} onClick={() => void router.navigate(done.to)}>
        {done.label}
      </button>
    </>
  );
}
