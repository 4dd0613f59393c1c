/** Events per second, and how old they were when they came, over the last minute. */
import { useEffect, useState } from 'react';
import { serviceNow } from '../../api/clock.ts';
import { duration } from '../../ui/values.tsx';
import type { Arrivals, Rates } from './arrivals.ts';

const WIDTH = 120;
const HEIGHT = 20;
/** Less than this is drawn small: nothing is late. */
const LEAST_SCALE_MS = 1_000;

export function RateView({ arrivals }: { arrivals: Arrivals }) {
  const rates = useRates(arrivals);
  if (rates.most === null) return <span className="text-12 text-ink-3">none in the last minute</span>;
  const scale = Math.max(rates.most, LEAST_SCALE_MS);
  const said = `at most ${duration(rates.most)} old on arrival, in the last minute`;
  return (
    <span className="flex items-center gap-2 text-12 text-ink-3">
      <span className="tabular-nums">{rates.perSecond.toFixed(1)}/s</span>
      <svg
        role="img"
        aria-label={`Events were ${said}`}
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="text-water max-sm:hidden"
      >
        <title>{said}</title>
        <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} className="stroke-line" />
        {rates.ages.map((age, i) => {
          if (age === null) return null;
          const height = Math.max(1.5, (age / scale) * (HEIGHT - 2));
          const width = WIDTH / rates.ages.length;
          return (
            <rect
              key={i}
              x={i * width}
              y={HEIGHT - height}
              width={width - 0.5}
              height={height}
              fill="currentColor"
            />
          );
        })}
      </svg>
      <span className="whitespace-nowrap tabular-nums">{duration(rates.most)}</span>
    </span>
  );
}

function useRates(arrivals: Arrivals): Rates {
  const [rates, setRates] = useState(() => arrivals.rates(serviceNow()));
  useEffect(() => {
    const timer = setInterval(() => {
      const next = arrivals.rates(serviceNow());
      // Where nothing comes, nothing is drawn again.
      setRates((last) => (last.most === null && next.most === null ? last : next));
    }, 1000);
    return () => clearInterval(timer);
  }, [arrivals]);
  return rates;
}
