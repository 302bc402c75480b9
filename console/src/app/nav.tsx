import {
  IconAlertTriangle,
  IconBook,
  IconArrowBackUp,
  IconBed,
  IconBuilding,
  IconBuildingStore,
  IconBus,
  IconCoffee,
  IconHistory,
  IconHome,
  IconLock,
  IconMap,
  IconMapOff,
  IconQrcode,
  IconReceipt,
  IconSpeakerphone,
  IconTicket,
  IconTicketOff,
  IconUsers,
  type Icon,
} from '@tabler/icons-react';
import type { Operation } from '@/api/access';

/** Names of pages: the key of their texts, and of their help in docs/console. */
export type PageName =
  | 'overview'
  | 'bookings'
  | 'cancellation-requests'
  | 'trip-cancellations'
  | 'payments'
  | 'refunds'
  | 'ledger'
  | 'incidents'
  | 'providers'
  | 'audit'
  | 'users'
  | 'security'
  | 'trips'
  | 'check-in'
  | 'buses'
  | 'hotels'
  | 'rest-stops'
  | 'campaigns'
  | 'company-ledger'
  | 'company';

export interface NavItem {
  name: PageName;
  path: string;
  icon: Icon;
  /** The page is shown to the roles that may call one of these. */
  operations: Operation[];
  /** Pages below it are shown to those who may call one of these, too. */
  inside?: Operation[];
  /** With `g` before it, goes there. */
  key: string;
  /** Provider roles see only pages that are theirs; staff see those, too, when the document lets them. */
  portal?: boolean;
}

/** The pages in the order in which they are shown. Who sees which follows from the roles of their operations. */
export const navItems: NavItem[] = [
  {
    name: 'overview',
    path: '/',
    icon: IconHome,
    key: 'o',
    operations: ['GetDashboard', 'GetProviderDashboard', 'ListIncidents'],
  },
  { name: 'bookings', path: '/bookings', icon: IconTicket, key: 'b', operations: ['ListBookings'] },
  {
    name: 'cancellation-requests',
    path: '/cancellation-requests',
    icon: IconTicketOff,
    key: 'q',
    operations: ['ListAllCancellationRequests'],
  },
  {
    name: 'trip-cancellations',
    path: '/trip-cancellations',
    icon: IconMapOff,
    key: 'x',
    operations: ['ListTripCancellations'],
    inside: ['GetTripCancellation'],
  },
  { name: 'payments', path: '/payments', icon: IconReceipt, key: 'p', operations: ['ListPaymentTransactions'] },
  { name: 'refunds', path: '/refunds', icon: IconArrowBackUp, key: 'r', operations: ['ListRefunds'] },
  { name: 'ledger', path: '/ledger', icon: IconBook, key: 'l', operations: ['ListFinancialRecords'] },
  { name: 'incidents', path: '/incidents', icon: IconAlertTriangle, key: 'i', operations: ['ListIncidents'] },
  {
    name: 'providers',
    path: '/providers',
    icon: IconBuildingStore,
    key: 'c',
    operations: ['ListProviders', 'ListProviderBalances'],
  },
  { name: 'users', path: '/users', icon: IconUsers, key: 'u', operations: ['ListUsers'] },
  { name: 'audit', path: '/audit', icon: IconHistory, key: 'a', operations: ['ListAuditLogs'] },
  { name: 'trips', path: '/trips', icon: IconMap, key: 't', operations: ['ListProviderTrips'], portal: true },
  { name: 'check-in', path: '/check-in', icon: IconQrcode, key: 'd', operations: ['ReportCheckIns'], portal: true },
  { name: 'buses', path: '/buses', icon: IconBus, key: 'e', operations: ['ListBuses'], portal: true },
  { name: 'hotels', path: '/hotels', icon: IconBed, key: 'h', operations: ['ListHotels'], portal: true },
  { name: 'rest-stops', path: '/rest-stops', icon: IconCoffee, key: 'n', operations: ['ListRestStops'], portal: true },
  {
    name: 'campaigns',
    path: '/campaigns',
    icon: IconSpeakerphone,
    key: 'm',
    operations: ['ListAdCampaigns'],
    portal: true,
  },
  {
    name: 'company-ledger',
    path: '/company-ledger',
    icon: IconBook,
    key: 'w',
    operations: ['ListProviderFinancialRecords'],
    portal: true,
  },
  { name: 'company', path: '/company', icon: IconBuilding, key: 'y', operations: ['GetCompany'], portal: true },
  { name: 'security', path: '/security', icon: IconLock, key: 's', operations: ['GetMe'] },
];
