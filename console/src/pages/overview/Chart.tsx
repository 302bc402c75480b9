import 'uplot/dist/uPlot.min.css';

import { useEffect, useRef, useState } from 'react';
import type { Schemas } from '@/api/client';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { dayText } from '@/lib/dates';
import { amountText } from '@/lib/money';
import classes from './overview.module.css';
import { amounts, plot } from './plot';

type Days = Schemas['FinancialReportDay'][];

/** The days of a period: gross as bars, net and what was given back as lines; and the same as a table for those who do not see it. */
export default function Chart({ series }: { series: Days }) {
  const { t, language } = useWords();
  const canvas = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);

  useEffect(() => (canvas.current ? plot(canvas.current, series, language, setAt) : undefined), [series, language]);

  const day = at === null ? undefined : series[at];
  return (
    <>
      <div aria-hidden="true">
        <div ref={canvas} className={classes.chart} />
        <ul className={classes.legend}>
          {amounts.map((name) => (
            <li key={name} data-series={name}>
              {t(`card.${name}`)} {day && <b className="numbers">{amountText(day[name], language)}</b>}
            </li>
          ))}
          <li>{day && dayText(day.date, language)}</li>
        </ul>
      </div>
      <details className={ui.small}>
        <summary>{t('overview.asTable')}</summary>
        <Table series={series} />
      </details>
    </>
  );
}

function Table({ series }: { series: Days }) {
  const { t, language } = useWords();
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard
    <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('overview.series')}>
      <table className={ui.plain}>
        <thead>
          <tr>
            <th scope="col">{t('field.day')}</th>
            {amounts.map((name) => (
              <th key={name} scope="col" data-align="end">
                {t(`card.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.map((day) => (
            <tr key={day.date}>
              <th scope="row">{dayText(day.date, language)}</th>
              {amounts.map((name) => (
                <td key={name} data-align="end" className="numbers">
                  {amountText(day[name], language)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
