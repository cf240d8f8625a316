import { addFiles } from '#src/platform/attach/intake.ts';
import type { AttachTarget } from '#src/platform/attach/attach-store.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import { useState, type ReactNode } from 'react';
import { fileOf } from './resource-file.ts';
import { useServersWithMore } from './servers-with-more.ts';
import css from './server-things.module.css';

type Things = Out<'toolServerThings'>;
type Prompt = Things['prompts'][number];
type Template = Things['templates'][number];

/** What one server has, asked for when it is unfolded. */
const Unfolded = ({
  id,
  empty,
  rows,
}: {
  id: number;
  empty: string;
  rows: (things: Things) => ReactNode[];
}) => {
  const things = useCall('toolServerThings', { id }, { staleTime: 60_000, retry: false });
  if (things.isPending) return <Skeleton lines={3} />;
  if (things.isError) return <QueryFailed query={things} />;
  const found = rows(things.data);
  return found.length === 0 ? <p className="field-hint">{empty}</p> : <ul>{found}</ul>;
};

/** They, each to be unfolded; nothing where there are none. */
const Servers = ({
  title,
  first = null,
  empty,
  rows,
}: {
  title: string;
  /** The one that is unfolded at first. */
  first?: number | null | undefined;
  empty: string;
  rows: (server: { id: number; name: string }, things: Things) => ReactNode[];
}) => {
  const [open, setOpen] = useState<number | null>(first);
  const on = useServersWithMore();
  if (on.length === 0) return null;
  return (
    <section className={css.servers} aria-label={title}>
      <h3>{title}</h3>
      {on.map((server) => (
        <div key={server.id}>
          <button
            type="button"
            className={css.server}
            aria-expanded={open === server.id}
            onClick={() => setOpen(open === server.id ? null : server.id)}
          >
            <span>{server.name}</span>
            <Icon name={open === server.id ? 'up' : 'down'} size={16} />
          </button>
          {open === server.id && (
            <Unfolded id={server.id} empty={empty} rows={(things) => rows(server, things)} />
          )}
        </div>
      ))}
    </section>
  );
};

const Thing = ({
  name,
  about,
  busy,
  onClick,
}: {
  name: string;
  about: string;
  busy: boolean;
  onClick: () => void;
}) => (
  <li>
    <button type="button" className={css.thing} disabled={busy} onClick={onClick}>
      <b>{name}</b>
      {about !== '' && <small>{about}</small>}
    </button>
  </li>
);

/** What has blanks to be filled in. */
const Blanks = ({
  of,
  submit,
  onFill,
  onClose,
}: {
  of: { title: string; blanks: { name: string; required: boolean; hint: string }[] } | null;
  submit: string;
  onFill: (given: Record<string, string>) => Promise<void>;
  onClose: () => void;
}) => (
  <Sheet open={of !== null} onClose={onClose} title={of?.title ?? ''}>
    {of && (
      <Form
        key={of.title}
        fields={of.blanks.map((blank) => ({
          ...blank,
          label: blank.name,
          kind: 'text' as const,
          max: 1000,
        }))}
        initial={{}}
        submit={submit}
        onSubmit={(values) =>
          onFill(
            Object.fromEntries(
              Object.entries(values)
                .map(([name, value]) => [name, String(value ?? '')] as const)
                .filter(([, value]) => value !== ''),
            ),
          )
        }
      />
    )}
  </Sheet>
);

/** Behind ＋: a server's resources; one becomes an attachment like any file. */
export const ServerResources = ({
  target,
  words,
  onDone,
}: {
  target: AttachTarget;
  /** Of images only what is written on them is wanted. */
  words: boolean;
  onDone: () => void;
}) => {
  const { busy, run } = useAct();
  const [filling, setFilling] = useState<{ id: number; template: Template } | null>(null);
  const take = async (
    id: number,
    resource: Things['resources'][number],
    blanks?: Record<string, string>,
  ) => {
    const asked = { id, uri: resource.uri, ...(blanks && { blanks }) };
    const file = fileOf(resource, await api.readToolResource(asked));
    onDone();
    await addFiles(target, [file], { words });
  };
  return (
    <>
      <Servers
        title="工具服务的资源"
        empty="它没有资源。"
        rows={({ id }, { resources, templates }) => [
          ...resources.map((resource) => (
            <Thing
              key={resource.uri}
              name={resource.name}
              about={resource.description || resource.uri}
              busy={busy}
              onClick={() => void run(() => take(id, resource))}
            />
          )),
          ...templates.map((template) => (
            <Thing
              key={template.uri}
              name={template.name}
              about={template.description || template.uri}
              busy={busy}
              onClick={() => setFilling({ id, template })}
            />
          )),
        ]}
      />
      <Blanks
        of={
          filling && {
            title: filling.template.name,
            blanks: filling.template.blanks.map((name) => ({ name, required: true, hint: '' })),
          }
        }
        submit="放进消息"
        onFill={(given) => take(filling!.id, filling!.template, given)}
        onClose={() => setFilling(null)}
      />
    </>
  );
};

/** Behind /: a server's prompts; one becomes text in the box, with its blanks filled in. */
export const ServerPrompts = ({
  first,
  onChoose,
}: {
  first?: number | undefined;
  onChoose: (text: string) => void;
}) => {
  const { busy, run } = useAct();
  const [filling, setFilling] = useState<{ id: number; prompt: Prompt } | null>(null);
  const fill = async (id: number, name: string, given: Record<string, string>) => {
    const { text } = await api.fillToolPrompt({ id, name, arguments: given });
    setFilling(null);
    onChoose(text);
  };
  return (
    <>
      <Servers
        title="工具服务的提示词"
        first={first}
        empty="它没有提示词。"
        rows={({ id }, { prompts }) =>
          prompts.map((prompt) => (
            <Thing
              key={prompt.name}
              name={prompt.title}
              about={prompt.description}
              busy={busy}
              onClick={() => {
                if (prompt.arguments.length > 0) setFilling({ id, prompt });
                else void run(() => fill(id, prompt.name, {}));
              }}
            />
          ))
        }
      />
      <Blanks
        of={
          filling && {
            title: filling.prompt.title,
            blanks: filling.prompt.arguments.map(({ name, description, required }) => ({
              name,
              required,
              hint: description,
            })),
          }
        }
        submit="放进输入框"
        onFill={(given) => fill(filling!.id, filling!.prompt.name, given)}
        onClose={() => setFilling(null)}
      />
    </>
  );
};
