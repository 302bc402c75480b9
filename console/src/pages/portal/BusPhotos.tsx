import { ActionIcon, Button, FileButton } from '@mantine/core';
import { IconPhotoPlus, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { buses } from '@/api/queries/resources';
import { ErrorMessage } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';
import classes from './portal.module.css';

/** An address of this host, whichever name the API knows itself by: no picture comes from another one. */
const ownAddress = (url: string) => {
  const { pathname, search } = new URL(url, location.origin);
  return `${pathname}${search}`;
};

export function BusPhotos({ bus }: { bus: Schemas['Bus'] }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const onSettled = () => queries.invalidateQueries({ queryKey: buses.list.queryKey });
  const add = useMutation({
    mutationFn: (files: File[]) => {
      const form = new FormData();
      for (const file of files) form.append('photos', file);
      return answered(
        api.POST('/api/v1/provider/buses/{id}/photos', {
          params: { path: { id: bus.id } },
          // The document's type of a file is text; a form carries it.
          body: { photos: [] },
          bodySerializer: () => form,
        }),
      );
    },
    onSettled,
  });
  const remove = useMutation({
    mutationFn: (photo_id: string) =>
      answered(
        api.DELETE('/api/v1/provider/buses/{id}/photos/{photo_id}', { params: { path: { id: bus.id, photo_id } } }),
      ),
    onSettled,
  });
  const failed = add.error ?? remove.error;
  return (
    <>
      {failed !== null && <ErrorMessage error={failed} />}
      <ul className={classes.photos}>
        {bus.photos.map(({ id, url }, index) => (
          <li key={id}>
            <img
              src={ownAddress(url)}
              alt={t('portal.photo', { number: index + 1, plate: bus.plate_number })}
              loading="lazy"
            />
            <ActionIcon
              className={classes.remove ?? ''}
              size="sm"
              color="red"
              aria-label={`${t('action.delete')} ${index + 1}`}
              loading={remove.isPending && remove.variables === id}
              onClick={() => {
                remove.mutate(id);
              }}
            >
              <IconTrash size={14} />
            </ActionIcon>
          </li>
        ))}
      </ul>
      {bus.photos.length < 10 && (
        <div>
          <FileButton multiple accept="image/jpeg,image/png,image/webp" onChange={add.mutate}>
            {(props) => (
              <Button
                {...props}
                size="xs"
                variant="default"
                loading={add.isPending}
                leftSection={<IconPhotoPlus size={14} />}
              >
                {t('portal.addPhotos')}
              </Button>
            )}
          </FileButton>
        </div>
      )}
    </>
  );
}
