import { Button, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { IconChevronDown, IconKeyboard, IconLanguage, IconLock, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { logOut, type Me } from '@/api/identity';
import { chooseLanguage } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import classes from './shell.module.css';

const schemes: MantineColorScheme[] = ['auto', 'light', 'dark'];

export function UserMenu({ me, showKeys }: { me: Me; showKeys: () => void }) {
  const { t, language } = useWords();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();

  const leave = async () => {
    // The cookies are gone with the answer; without one the session ends by itself.
    await logOut().catch(() => null);
    await navigate('/sign-in');
  };

  return (
    <div className={classes.user}>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        leftSection={<IconLanguage size={15} />}
        lang={language === 'ar' ? 'en' : 'ar'}
        onClick={() => void chooseLanguage(language === 'ar' ? 'en' : 'ar')}
      >
        {language === 'ar' ? 'English' : 'العربية'}
      </Button>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            leftSection={<IconUserCircle size={17} />}
            rightSection={<IconChevronDown size={14} />}
            aria-label={t('app.account', { name: me.name })}
          >
            <bdi className={classes.name}>{me.name}</bdi>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <bdi>{me.email}</bdi>
            <br />
            {t(`role.${me.role}`)}
          </Menu.Label>
          <Menu.Item leftSection={<IconLock size={15} />} onClick={() => void navigate('/security')}>
            {t('nav.security')}
          </Menu.Item>
          <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={showKeys}>
            {t('keys.title')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(scheme) => {
              setColorScheme(scheme as MantineColorScheme);
            }}
          >
            {schemes.map((scheme) => (
              <Menu.RadioItem key={scheme} value={scheme}>
                {t(`scheme.${scheme}`)}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => void leave()}>
            {t('signIn.out')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
