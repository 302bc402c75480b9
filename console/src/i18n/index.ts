import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import type en from './en.json';

export type Language = 'ar' | 'en';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: typeof en };
  }
}

const key = 'rihla.language';

const texts: Record<Language, () => Promise<{ default: object }>> = {
  ar: () => import('./ar.json'),
  en: () => import('./en.json'),
};

export const isLanguage = (value: unknown): value is Language => value === 'ar' || value === 'en';

/** The language that was chosen in this browser; else that of the browser; else Arabic, as everywhere in the API. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem(key);
  if (isLanguage(chosen)) return chosen;
  return navigator.language.startsWith('en') ? 'en' : 'ar';
}

export const languageWasChosen = () => isLanguage(localStorage.getItem(key));

export const currentLanguage = (): Language => (i18next.language === 'en' ? 'en' : 'ar');

export const directionOf = (language: Language) => (language === 'ar' ? 'rtl' : 'ltr');

function applyTo(language: Language): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

/** Loads the texts of one language; those of the other are read when it is chosen. */
export async function startI18n(): Promise<void> {
  const language = firstLanguage();
  const { default: translation } = await texts[language]();
  applyTo(language);
  await i18next.use(initReactI18next).init({
    lng: language,
    resources: { [language]: { translation } },
    interpolation: { escapeValue: false },
  });
}

export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(key, language);
  const { default: translation } = await texts[language]();
  i18next.addResourceBundle(language, 'translation', translation);
  applyTo(language);
  await i18next.changeLanguage(language);
}
