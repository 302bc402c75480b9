import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useWords } from '@/i18n/useWords';
import classes from './shell.module.css';

/** Finds bookings by whatever a customer says: number, name, phone, reference. */
export function SearchBox() {
  const { t } = useWords();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  return (
    <search className={classes.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) void navigate(`/bookings?search=${encodeURIComponent(text.trim())}`);
        }}
      >
        <TextInput
          size="xs"
          type="search"
          data-search=""
          aria-label={t('search.label')}
          placeholder={t('search.placeholder')}
          leftSection={<IconSearch size={14} />}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
          }}
        />
      </form>
    </search>
  );
}
