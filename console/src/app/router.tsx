import { createBrowserRouter, redirect, type LoaderFunctionArgs, type RouteObject } from 'react-router';
import { Failed } from './Failed';
import { Shell } from './Shell';

const basename = '/console';

/** The page's path below /console. */
export const pageNow = () => router.state.location.pathname.slice(basename.length) || '/';

/** The page's address below /console, to come back to. */
export const pathNow = () => `${pageNow()}${router.state.location.search}`;

/**
 * Where a gateway's page leads back to: what its return adds to the address is no filter of the list. Which campaign it was stands behind
 * the filters, for the page to say what became of its payment.
 */
export const campaignsAfterPayment = ({ request }: Pick<LoaderFunctionArgs, 'request'>) => {
  const { searchParams } = new URL(request.url);
  const filters = new URLSearchParams({ search: searchParams.get('search') ?? '' });
  return redirect(`/campaigns?${filters.toString()}#paid-${encodeURIComponent(searchParams.get('campaign') ?? '')}`);
};

// Pages are loaded when they are opened.
const pages: RouteObject[] = [
  { index: true, lazy: () => import('@/pages/overview/Overview') },
  { path: 'bookings', lazy: () => import('@/pages/bookings/Bookings') },
  { path: 'bookings/:id', lazy: () => import('@/pages/bookings/Booking') },
  { path: 'cancellation-requests', lazy: () => import('@/pages/cancellations/Requests') },
  { path: 'payments', lazy: () => import('@/pages/payments/Payments') },
  { path: 'payments/:id', lazy: () => import('@/pages/payments/Payment') },
  { path: 'refunds', lazy: () => import('@/pages/refunds/Refunds') },
  { path: 'ledger', lazy: () => import('@/pages/ledger/Ledger') },
  { path: 'incidents', lazy: () => import('@/pages/incidents/Incidents') },
  { path: 'providers', lazy: () => import('@/pages/providers/Providers') },
  { path: 'providers/:id', lazy: () => import('@/pages/providers/Provider') },
  { path: 'users', lazy: () => import('@/pages/users/Users') },
  { path: 'audit', lazy: () => import('@/pages/audit/Audit') },
  { path: 'security', lazy: () => import('@/pages/security/Security') },
  { path: 'trips', lazy: () => import('@/pages/portal/Trips') },
  { path: 'trip-cancellations', lazy: () => import('@/pages/called-off/Cancellations') },
  // Not below trips: finance and support staff have no page of trips.
  { path: 'trip-cancellations/:id', lazy: () => import('@/pages/called-off/CalledOff') },
  { path: 'check-in', lazy: () => import('@/pages/check-in/Trips') },
  { path: 'check-in/:id', lazy: () => import('@/pages/check-in/Trip') },
  { path: 'buses', lazy: () => import('@/pages/portal/Buses') },
  { path: 'hotels', lazy: () => import('@/pages/portal/Hotels') },
  { path: 'rest-stops', lazy: () => import('@/pages/portal/RestStops') },
  { path: 'campaigns', lazy: () => import('@/pages/portal/Campaigns') },
  { path: 'campaigns/paid', loader: campaignsAfterPayment },
  { path: 'company-ledger', lazy: () => import('@/pages/portal/CompanyLedger') },
  { path: 'company', lazy: () => import('@/pages/company/Company') },
  { path: '*', lazy: () => import('@/pages/NotFound') },
];

export const router = createBrowserRouter(
  [
    {
      path: '/sign-in',
      lazy: () => import('@/pages/signin/SignIn'),
      ErrorBoundary: Failed,
      HydrateFallback: () => null,
    },
    {
      path: '/forgot-password',
      lazy: () => import('@/pages/signin/ForgotPassword'),
      ErrorBoundary: Failed,
      HydrateFallback: () => null,
    },
    {
      path: '/reset-password',
      lazy: () => import('@/pages/signin/NewPassword'),
      ErrorBoundary: Failed,
      HydrateFallback: () => null,
    },
    {
      path: '/invitation',
      lazy: () => import('@/pages/signin/NewPassword'),
      ErrorBoundary: Failed,
      HydrateFallback: () => null,
    },
    {
      path: '/verify-email',
      lazy: () => import('@/pages/signin/VerifyEmail'),
      ErrorBoundary: Failed,
      HydrateFallback: () => null,
    },
    {
      path: '/',
      Component: Shell,
      HydrateFallback: () => null,
      ErrorBoundary: Failed,
      children: [{ ErrorBoundary: Failed, children: pages }],
    },
  ],
  { basename },
);
