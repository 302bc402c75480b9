import js from '@eslint/js';
import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'built', 'src/gen', 'node_modules', 'test-results'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, a11y.flatConfigs.strict, hooks.configs.flat['recommended-latest']],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', 400],
      // A promise that a handler starts reports its own failure (useMutation, notifications).
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  // One place per subject says under which keys its answers are kept, so that what is read and what is read anew cannot differ.
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/api/queries/**', 'src/hooks/useList.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ":matches(Property[key.name='queryKey'], JSXAttribute[name.name='queryKey'], JSXAttribute[name.name='changes'] ArrayExpression) ArrayExpression",
          message: 'Query keys are made in src/api/queries.',
        },
      ],
    },
  },
  // Fixtures of Playwright are handed on by a function that is called `use`.
  { files: ['e2e/**'], rules: { 'react-hooks/rules-of-hooks': 'off' } },
  { files: ['scripts/**', '*.js'], languageOptions: { globals: globals.node } },
  // Parts of it run in the page.
  {
    files: ['scripts/screenshots.mjs'],
    languageOptions: { globals: { document: 'readonly', localStorage: 'readonly' } },
  },
);
