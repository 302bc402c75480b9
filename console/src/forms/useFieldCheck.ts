import { useState, type RefObject } from 'react';
import { ApiError } from '@/api/errors';
import { useWords } from '@/i18n/useWords';

const inputOf = (element: Element) =>
  element.matches('input, textarea') ? (element as HTMLInputElement) : element.querySelector('input');

/** What a form finds by itself before it is sent: fields that are empty or cannot be read. It is said as what the API finds. */
export function useFieldCheck(form: RefObject<HTMLFormElement | null>) {
  const { t } = useWords();
  const [wrong, setWrong] = useState<Record<string, string[]>>({});
  const [tries, setTries] = useState(0);

  const fields = () => [...(form.current?.querySelectorAll<HTMLElement>('[data-field]') ?? [])];

  const passes = (): boolean => {
    const found: Record<string, string[]> = {};
    for (const field of fields()) {
      const input = inputOf(field);
      const name = field.dataset['field'];
      if (!input || name === undefined || input.disabled) continue;
      // A list to choose from is no field that the browser would ask for. What cannot be read has no value, either.
      const unreadable = input.validity.badInput || input.validity.typeMismatch;
      if (unreadable) found[name] = [t(input.type === 'email' ? 'form.noEmail' : 'form.unreadable')];
      else if (input.required && input.value === '') found[name] = [t('form.required')];
    }
    setWrong(found);
    setTries((before) => before + 1);
    // What is no field of the form's own is judged by the browser.
    return Object.keys(found).length === 0 && (form.current?.reportValidity() ?? true);
  };
  /** It is being put right. */
  const forget = (name: string) => {
    setWrong((before) => Object.fromEntries(Object.entries(before).filter(([one]) => one !== name)));
  };
  const goTo = (name: string) => {
    const field = fields().find((one) => one.dataset['field'] === name);
    const input = field && inputOf(field);
    input?.focus();
    input?.scrollIntoView({ block: 'center' });
  };
  const error = Object.keys(wrong).length > 0 ? new ApiError(422, 'INVALID', t('form.check'), wrong) : null;
  return { error, tries, passes, forget, goTo };
}
