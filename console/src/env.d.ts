/// <reference types="vite/client" />

// docs/console, made into HTML by vite.config.ts.
declare module '*.md' {
  const html: string;
  export default html;
}
