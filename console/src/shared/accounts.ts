import type { TFunction } from 'i18next';

/** A ledger's account in words; one that is not known here as the API writes it. */
export function accountText(account: string, t: TFunction): string {
  const [owner = '', name = ''] = account.split(':');
  const place = owner === 'provider' || owner === 'gateway' ? owner : `${owner}_${name}`;
  const words = t(`account.${place}`, { defaultValue: account });
  return owner === 'gateway' ? `${words} ${t(`enum.${name}`, { defaultValue: name })}` : words;
}
