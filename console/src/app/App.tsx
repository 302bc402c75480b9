import { DirectionProvider, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { RouterProvider } from 'react-router/dom';
import { directionOf } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import { queries } from './queries';
import { router } from './router';
import { StepUpDialog } from './StepUp';
import { themeIn } from './theme';

export function App() {
  const { t, language } = useWords();
  const direction = directionOf(language);
  useEffect(() => {
    document.documentElement.dir = direction;
  }, [direction]);
  const close = t('action.close');
  const theme = useMemo(() => themeIn(close), [close]);
  return (
    // The key makes Mantine read the direction anew.
    <DirectionProvider key={direction} initialDirection={direction} detectDirection={false}>
      <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
        <QueryClientProvider client={queries}>
          <Notifications position="bottom-center" limit={4} />
          <RouterProvider router={router} />
          <StepUpDialog />
        </QueryClientProvider>
      </MantineProvider>
    </DirectionProvider>
  );
}
