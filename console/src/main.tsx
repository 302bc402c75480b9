import '@mantine/core/styles/baseline.css';
import '@mantine/core/styles/default-css-variables.css';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/theme.css';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { startI18n } from './i18n';
import { forgetPassengers } from './lib/kept';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');

forgetPassengers(Date.now());
await startI18n();

createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
