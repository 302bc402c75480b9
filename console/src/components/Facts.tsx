import { Fragment, type ReactNode } from 'react';
import classes from './ui.module.css';

/** Names and values of one thing; what is null is left out. */
export function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {of
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
