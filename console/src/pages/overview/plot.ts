import uPlot from 'uplot';
import type { Schemas } from '@/api/client';
import { directionOf, type Language } from '@/i18n';
import { weekdayText } from '@/lib/dates';
import { countText } from '@/lib/money';

type Days = Schemas['FinancialReportDay'][];

/** What is drawn, in this order: bars first, lines over them. */
export const amounts = ['gross_amount', 'net_amount', 'refunded_amount'] as const;

const height = 268;

/** Colours are read when they are used: the scheme may change while the chart is there. */
const colour = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name);

const dataOf = (days: Days): uPlot.AlignedData => [
  days.map((_, index) => index),
  ...amounts.map((name) => days.map((day) => day[name])),
];

function axesOf(days: Days, language: Language, font: string): uPlot.Axis[] {
  const text = { stroke: colour('--mantine-color-dimmed'), font, ticks: { show: false } };
  return [
    {
      ...text,
      grid: { show: false },
      incrs: [1, 2, 5, 7, 10, 14, 31],
      space: 88,
      values: (_, at) => at.map((index) => (days[index] ? weekdayText(days[index].date, language) : '')),
    },
    {
      ...text,
      // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- a const enum of declarations: right and left
      side: directionOf(language) === 'rtl' ? 1 : 3,
      size: 72,
      grid: { stroke: colour('--line'), width: 1 },
      values: (_, at) => at.map((value) => countText(value, language)),
    },
  ];
}

/**
 * Draws the days into the element, from right to left in Arabic, and says which of them the pointer is at. Answers what takes it
 * away again.
 */
export function plot(into: HTMLElement, days: Days, language: Language, at: (index: number | null) => void) {
  const [gross, ...lines] = amounts.map((_, index) => colour(`--series-${String(index + 1)}`));
  const bars = uPlot.paths.bars?.({ size: [0.7, 34], radius: 0.1 });
  const chart = new uPlot(
    {
      width: into.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, dir: directionOf(language) === 'rtl' ? -1 : 1, range: [-0.5, days.length - 0.5] },
        y: { range: (_, min, max) => uPlot.rangeNum(Math.min(0, min), Math.max(max, 100), 0.1, true) },
      },
      axes: axesOf(days, language, `12px ${getComputedStyle(into).fontFamily}`),
      series: [
        {},
        { ...(gross && { fill: gross }), width: 0, points: { show: false }, ...(bars && { paths: bars }) },
        ...lines.map((stroke): uPlot.Series => ({ stroke, width: 2, points: { show: false } })),
      ],
      hooks: {
        setCursor: [
          ({ cursor }) => {
            at(cursor.idx ?? null);
          },
        ],
      },
    },
    dataOf(days),
    into,
  );
  const resized = new ResizeObserver(() => {
    chart.setSize({ width: into.clientWidth, height });
  });
  resized.observe(into);
  // The scheme is an attribute of the document.
  const recoloured = new MutationObserver(() => {
    chart.redraw(false);
  });
  recoloured.observe(document.documentElement, { attributes: true });
  return () => {
    resized.disconnect();
    recoloured.disconnect();
    chart.destroy();
  };
}
