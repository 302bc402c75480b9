import { useTranslation } from 'react-i18next';
import type { Language } from '.';

/** The texts of the page's language, and that language. */
export function useWords() {
  const { t, i18n } = useTranslation();
  const language: Language = i18n.language === 'en' ? 'en' : 'ar';
  /** What the API says in both languages: `status` finds `status_label_ar` and `status_label_en`. */
  const label = <K extends string>(item: { [P in `${K}_label_ar` | `${K}_label_en`]: string }, name: K) =>
    item[`${name}_label_${language}`];
  return { t, language, label };
}
