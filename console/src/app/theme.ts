import { createTheme, Drawer, Modal, Tooltip } from '@mantine/core';

/**
 * What JavaScript has to know of the looks; the variables themselves are in theme.css. Mantine would write them into a style element,
 * which the Content-Security-Policy of the page does not let it do. For the same reason dialogs do not lock the page behind them, and
 * layouts are classes of ours instead of responsive properties.
 */
export const theme = createTheme({
  primaryColor: 'cyan',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  components: {
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, transitionProps: { duration: 100 } } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, transitionProps: { duration: 100 } } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withinPortal: true } }),
  },
});
