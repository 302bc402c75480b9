import { ActionIcon, Button, SegmentedControl, TextInput } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import {
  IconCamera,
  IconCameraOff,
  IconPhotoScan,
  IconRefresh,
  IconSearch,
  IconVolume,
  IconVolumeOff,
} from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Link, useParams } from 'react-router';
import { Answer } from '@/components/Card';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { plainText } from '@/lib/input';
import { codeInFile, codeReader } from './codes';
import { Confirm } from './Confirm';
import { searched, type Outcome } from './judge';
import type { Passenger } from './kept';
import { ListMenu } from './ListMenu';
import { People } from './People';
import { Refused } from './Refused';
import { Result } from './Result';
import { Sheet } from './Sheet';
import { Scanner, type CameraFault } from './Scanner';
import { allowSound, play, soundIsOn, switchSound } from './sounds';
import { looksLikeTicket } from './ticket';
import { useDesk } from './useDesk';
import classes from './check-in.module.css';

const shownLists = ['waiting', 'boarded', 'all'] as const;
type Shown = (typeof shownLists)[number];

/** Whom a part of the list has. */
const within = (shown: Shown, { checked_in_at }: Passenger) =>
  shown === 'all' || (shown === 'boarded') === (checked_in_at !== null);

/** Check-in of one trip, for the telephone of who stands at the bus. */
export function Component() {
  const { t } = useWords();
  const { id = '' } = useParams();
  const desk = useDesk(id);
  const { online } = useNetwork();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [camera, setCamera] = useState(false);
  const [fault, setFault] = useState<CameraFault | 'unread' | null>(null);
  const [text, setText] = useState('');
  const [shown, setShown] = useState<Shown>('waiting');
  const [asked, setAsked] = useState<Passenger | null>(null);
  const search = useRef<HTMLInputElement>(null);

  // Before the network goes.
  useEffect(() => {
    void codeReader().catch(() => null);
    void import('./Trips').catch(() => null);
  }, []);

  const say = (next: Outcome) => {
    setOutcome(next);
    play(next.verdict);
  };
  const take = async (given: { code: string } | { passenger: string }) => {
    say(await desk.report(given));
  };
  const found = searched(desk.passengers ?? [], text);
  const list = text === '' ? found.filter((one) => within(shown, one)) : found;

  const onEnter = () => {
    const typed = plainText(text);
    if (looksLikeTicket(typed)) {
      setText('');
      void take({ code: typed });
    } else if (found.length === 1 && found[0]) setAsked(found[0]);
  };

  const title = desk.trip ? <bdi>{desk.trip.title}</bdi> : t('nav.check-in');
  return (
    <div className={`${ui.page ?? ''} ${classes.desk ?? ''}`}>
      <PageHead title={title} name={desk.trip?.title ?? t('nav.check-in')} help="check-in">
        {desk.trip && desk.passengers && <ListMenu trip={desk.trip} passengers={desk.passengers} />}
      </PageHead>
      {desk.trip && desk.passengers && <Sheet trip={desk.trip} passengers={desk.passengers} />}
      {desk.trip && (
        <p className={ui.text}>
          <bdi>{desk.trip.origin}</bdi> – <bdi>{desk.trip.destination}</bdi> · <When at={desk.trip.departure_at} />{' '}
          <Link to="/check-in">{t('checkIn.otherTrip')}</Link>
        </p>
      )}
      <Answer query={desk.asked} lines={6}>
        {(passengers) => (
          <>
            <Counts of={passengers} waiting={desk.waiting.length} />
            {camera && (
              <Scanner
                seen={(code) => void take({ code: code.trim() })}
                failed={(why) => {
                  setCamera(false);
                  setFault(why);
                }}
              />
            )}
            <Result outcome={outcome} idle={t(camera ? 'checkIn.hold' : 'checkIn.begin')} />
            {fault && (
              <p role="alert" className={ui.notice}>
                {t(`checkIn.fault.${fault}`)}
              </p>
            )}
            <Refused of={desk.refused} passengers={passengers} drop={desk.drop} />
            <div className={classes.find}>
              <TextInput
                ref={search}
                size="md"
                type="search"
                data-search=""
                aria-label={t('checkIn.find')}
                placeholder={t('checkIn.find')}
                leftSection={<IconSearch size={18} />}
                autoComplete="off"
                autoCapitalize="off"
                value={text}
                onChange={(event) => {
                  setText(event.currentTarget.value);
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') onEnter();
                }}
              />
              {text === '' && (
                <SegmentedControl
                  fullWidth
                  size="md"
                  value={shown}
                  onChange={(next) => {
                    setShown(next);
                  }}
                  data={shownLists.map((value) => ({
                    value,
                    label: `${t(`checkIn.list.${value}`)} ${passengers.filter((one) => within(value, one)).length}`,
                  }))}
                />
              )}
            </div>
            <People
              of={list}
              empty={t(text === '' && passengers.length > 0 ? 'checkIn.empty' : 'checkIn.noPassengers')}
              unsent={desk.waiting}
              choose={setAsked}
            />
            <div className={classes.foot}>
              <span>
                {t('checkIn.readAt')} <When at={new Date(desk.readAt).toISOString()} relative />
              </span>
              <Button
                size="md"
                variant="subtle"
                loading={desk.reading}
                disabled={!online}
                leftSection={<IconRefresh size={16} />}
                onClick={() => void desk.reread()}
              >
                {t('list.refresh')}
              </Button>
            </div>
            <Bar
              camera={camera}
              toggle={() => {
                allowSound();
                setFault(null);
                setCamera(!camera);
              }}
              picture={async (file) => {
                allowSound();
                const code = await codeInFile(file).catch(() => null);
                if (code === null) setFault('unread');
                else {
                  setFault(null);
                  await take({ code: code.trim() });
                }
              }}
              find={() => {
                search.current?.focus();
                search.current?.scrollIntoView({ block: 'center' });
              }}
            />
          </>
        )}
      </Answer>
      <Confirm
        passenger={asked}
        close={() => {
          setAsked(null);
        }}
        go={(passenger) => {
          allowSound();
          setText('');
          void take({ passenger: passenger.passenger_id });
        }}
      />
    </div>
  );
}

function Counts({ of, waiting }: { of: Passenger[]; waiting: number }) {
  const { t } = useWords();
  const [sound, setSound] = useState(soundIsOn);
  const done = of.filter(({ checked_in_at }) => checked_in_at !== null).length;
  return (
    <div className={classes.counts}>
      <span className={classes.number}>
        {t('checkIn.counted', { done, count: of.length })}
        <progress value={done} max={Math.max(of.length, 1)} aria-label={t('checkIn.progress')} />
      </span>
      {waiting > 0 && <span className={classes.waiting}>{t('checkIn.waiting', { count: waiting })}</span>}
      <ActionIcon
        size={44}
        variant="default"
        aria-pressed={sound}
        aria-label={t('checkIn.sound')}
        title={t('checkIn.sound')}
        onClick={() => {
          switchSound(!sound);
          setSound(!sound);
          if (!sound) {
            allowSound();
            play('CHECKED_IN');
          }
        }}
      >
        {sound ? <IconVolume size={22} /> : <IconVolumeOff size={22} />}
      </ActionIcon>
    </div>
  );
}

interface BarProps {
  camera: boolean;
  toggle: () => void;
  picture: (file: File) => Promise<void>;
  find: () => void;
}

/** What the thumb does, at the lower edge of the screen. */
function Bar({ camera, toggle, picture, find }: BarProps) {
  const { t } = useWords();
  return (
    <div className={classes.bar}>
      <Button
        size="lg"
        className={classes.main ?? ''}
        variant={camera ? 'default' : 'filled'}
        leftSection={camera ? <IconCameraOff size={22} /> : <IconCamera size={22} />}
        onClick={toggle}
      >
        {t(camera ? 'checkIn.stop' : 'checkIn.start')}
      </Button>
      <label className={classes.small}>
        <IconPhotoScan size={22} aria-hidden />
        <span>{t('checkIn.picture')}</span>
        <input
          type="file"
          accept="image/*"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            event.currentTarget.value = '';
            if (file) void picture(file);
          }}
        />
      </label>
      <button type="button" className={classes.small} onClick={find}>
        <IconSearch size={22} aria-hidden />
        <span>{t('checkIn.type')}</span>
      </button>
    </div>
  );
}
