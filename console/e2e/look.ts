/** How a test sees the console. */
export interface Look {
  language: 'ar' | 'en';
  width: number;
  scheme: 'light' | 'dark';
}
