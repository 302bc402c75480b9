import { Combobox, createTheme, Drawer, Menu, Modal, Notification } from '@mantine/core';

/** Without a transform: what is fixed inside would be so to the dialog, and cut at its edge. */
const faded = { transition: 'fade', duration: 100 } as const;

/**
 * What opens beside its field or button is also there in the document: in the same landmark, and in the same dialog, without which a
 * screen reader that keeps to a modal dialog does not find it.
 */
const beside = { withinPortal: false, floatingStrategy: 'fixed' } as const;

/** The list itself scrolls, which belongs to its field, and not an element around the choices that the keyboard does not reach. */
const ownScroll = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: '14rem', overflowY: 'auto' } },
} as const;

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
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true, transitionProps: faded } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false, transitionProps: faded } }),
    Combobox: Combobox.extend({ defaultProps: beside }),
    Select: ownScroll,
    MultiSelect: ownScroll,
    // The first item has the focus at once, as menus have it, and not an element of no role before it.
    Menu: Menu.extend({ defaultProps: { ...beside, withInitialFocusPlaceholder: false } }),
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
