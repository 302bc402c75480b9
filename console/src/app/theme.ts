import { createTheme, Drawer, Modal, Notification, Tooltip } from '@mantine/core';

/**
 * What JavaScript has to know of the looks; the variables themselves are in theme.css. Mantine would write them into a style element,
 * which the Content-Security-Policy of the page does not let it do. For the same reason dialogs do not lock the page behind them, and
 * layouts are classes of ours instead of responsive properties.
 */
const theme = createTheme({
  primaryColor: 'cyan',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  components: {
    // Heads of dialogs are no banners of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 100 } } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, transitionProps: { duration: 100 } } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withinPortal: true } }),
  },
});

/** The theme; `close` is what the buttons of notifications do, in the language of the page. */
export const themeIn = (close: string) =>
  createTheme({
    ...theme,
    components: {
      ...theme.components,
      Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': close } } }),
    },
  });
