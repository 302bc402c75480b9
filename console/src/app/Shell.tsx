import { Burger, Drawer, Skeleton, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { Link, NavLink, Outlet, useLocation, useNavigate, useNavigation } from 'react-router';
import { may } from '@/api/access';
import type { Me } from '@/api/identity';
import { Answer } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { useKeptScroll } from '@/hooks/useKeptScroll';
import { Printing, useIsPrinting } from '@/hooks/usePrinting';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import { keyOf } from '@/lib/keys';
import { isProvider, useMeQuery } from './me';
import { useApprovals } from './useApprovals';
import { useCheckIns } from './useCheckIns';
import { navItems, type NavItem } from './nav';
import { SearchBox } from './SearchBox';
import { ShortcutsDialog } from './Shortcuts';
import { UserMenu } from './UserMenu';
import classes from './shell.module.css';

/** The pages that the user's role has something to do on. */
function pagesOf(me: Me): NavItem[] {
  if (me.second_factor_needed) return navItems.filter(({ name }) => name === 'security');
  return navItems.filter(
    ({ operations, portal, name }) =>
      (!isProvider(me) || portal === true || name === 'overview' || name === 'security') &&
      operations.some((operation) => may(me.role, operation)),
  );
}

export function Shell() {
  const me = useMeQuery();
  if (!me.data) {
    return (
      <main className={classes.alone}>
        <Answer query={me}>{() => null}</Answer>
      </main>
    );
  }
  return <Frame me={me.data} />;
}

function Frame({ me }: { me: Me }) {
  const { t } = useWords();
  const pages = pagesOf(me);
  const [menu, { open, close }] = useDisclosure();
  const [keys, { toggle: toggleKeys, close: closeKeys }] = useDisclosure();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  useKeptScroll(main);
  const printing = useIsPrinting();
  const going = useNavigation().state !== 'idle';
  const offline = !useNetwork().online;
  const approvals = useApprovals(me);
  const waiting = Object.values(approvals).reduce((sum, count) => sum + count, 0);
  useCheckIns(me);
  // A page that the role has nothing to do on is not asked for, whatever the address says.
  const page = navItems.find(({ path }) => path !== '/' && (pathname === path || pathname.startsWith(`${path}/`)));
  const inside = pathname !== page?.path && (page?.inside ?? []).some((operation) => may(me.role, operation));
  const closed = page !== undefined && !me.second_factor_needed && !pages.includes(page) && !inside;
  useEffect(close, [pathname, close]);
  useGoTo(pages);
  useKey('/', focusSearch);
  useKey('?', toggleKeys);

  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#main">
        {t('app.skip')}
      </a>
      <header className={classes.bar}>
        <Burger
          className={classes.burger}
          data-waiting={waiting > 0 || undefined}
          opened={menu}
          onClick={open}
          size="sm"
          aria-label={waiting > 0 ? t('app.menuWaiting', { count: waiting }) : t('app.menu')}
        />
        <NavLink to="/" className={classes.brand ?? ''} end aria-label={t('app.name')}>
          <img src="/console/icon.svg" alt="" width={24} height={24} />
          <span>{t('app.name')}</span>
        </NavLink>
        {may(me.role, 'ListBookings') && <SearchBox />}
        <UserMenu me={me} showKeys={toggleKeys} />
      </header>
      <nav className={classes.rail} aria-label={t('app.menu')}>
        <Links pages={pages} approvals={approvals} />
      </nav>
      <Drawer
        opened={menu}
        onClose={close}
        size="17rem"
        title={t('app.name')}
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        <nav aria-label={t('app.menu')}>
          <Links pages={pages} approvals={approvals} chosen={close} />
        </nav>
      </Drawer>
      <main ref={main} id="main" className={classes.main} tabIndex={-1} aria-busy={going}>
        {going && <Skeleton className={classes.going} height={2} />}
        {offline && (
          <p role="status" className={ui.notice}>
            {t('error.offline')}
          </p>
        )}
        <Printing value={printing}>{closed ? <NoAccess /> : <Outlet />}</Printing>
      </main>
      <ShortcutsDialog opened={keys} close={closeKeys} pages={pages} />
    </div>
  );
}

function NoAccess() {
  const { t } = useWords();
  return (
    <div className={ui.message}>
      <h1>{t('error.noAccess')}</h1>
      <Link to="/">{t('nav.overview')}</Link>
    </div>
  );
}

interface LinksProps {
  pages: NavItem[];
  approvals: ReturnType<typeof useApprovals>;
  /** Also when it is the page that is open already. */
  chosen?: () => void;
}

function Links({ pages, approvals, chosen }: LinksProps) {
  const { t, language } = useWords();
  return (
    <ul className={classes.links}>
      {pages.map(({ name, path, icon: Icon }) => {
        const waiting = approvals[name] ?? 0;
        return (
          <li key={name}>
            <NavLink to={path} end={path === '/'} className={classes.link ?? ''} onClick={chosen}>
              <Icon size={17} stroke={1.6} aria-hidden />
              <span>{t(`nav.${name}`)}</span>
              {waiting > 0 && (
                <span className={classes.waiting}>
                  <span className="numbers" aria-hidden>
                    {countText(waiting, language)}
                  </span>
                  <VisuallyHidden>{t('app.waiting', { count: waiting })}</VisuallyHidden>
                </span>
              )}
            </NavLink>
          </li>
        );
      })}
      <li className={ui.small}>
        <span className={classes.zone}>{t('time.zone')}</span>
      </li>
    </ul>
  );
}

/** The page's own search, or else that for bookings and payments. */
function focusSearch() {
  const found =
    document.querySelector<HTMLInputElement>('main [data-search]') ??
    document.querySelector<HTMLInputElement>('header [data-search]');
  found?.focus();
  found?.select();
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** A key that does something wherever nothing is typed. */
function useKey(key: string, act: () => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || keyOf(event) !== key) return;
      event.preventDefault();
      act();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [key, act]);
}

/** `g` and then a page's letter goes there. */
function useGoTo(pages: NavItem[]) {
  const navigate = useNavigate();
  // When `g` was pressed; the page may be drawn anew before the letter.
  const begun = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const key = keyOf(event);
      if (key === 'g') {
        begun.current = event.timeStamp;
        return;
      }
      const page = event.timeStamp - begun.current < 1500 ? pages.find((page) => page.key === key) : undefined;
      begun.current = 0;
      if (!page) return;
      event.preventDefault();
      void navigate(page.path);
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [pages, navigate]);
}
