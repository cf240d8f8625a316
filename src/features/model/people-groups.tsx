import { listProps } from '#src/ui/table/page-props.ts';
import { useState } from 'react';
import type { PeopleGroup } from '#contract/people-group.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { DataTable, type Column } from '#src/ui/table/data-table.tsx';

const remove = async (row: PeopleGroup): Promise<void> => {
  const yes = await confirmDialog({
    text: `删除“${row.name}”？组里的 ${row.people} 个人回到原价。`,
    ok: '删除',
    danger: true,
  });
  if (!yes) return;
  await api.delPeopleGroup({ id: row.id });
  toast('删除成功', 'success');
};

const columns: readonly Column<PeopleGroup>[] = [
  { key: 'name', title: '名称', value: (row) => row.name, role: 'title' },
  {
    key: 'factor',
    sortable: true,
    title: '价格倍率',
    value: (row) => row.factor,
    render: (row) => `×${row.factor}`,
    align: 'end',
    role: 'plain',
  },
  { key: 'people', sortable: true, title: '人数', value: (row) => row.people, align: 'end' },
  {
    key: 'channels',
    title: '专用的服务',
    value: (row) => row.channels.map(({ label }) => label).join('、'),
    render: (row) => row.channels.map(({ label }) => label).join('、') || '—',
  },
  {
    key: 'acts',
    title: '操作',
    role: 'bare',
    value: () => null,
    render: (row) => (
      <span className="row">
        <ButtonLink size="small" to="/manager/user" search={{ people_group: row.id }}>
          组里的人
        </ButtonLink>
        <Button size="small" kind="danger" onClick={() => quietly(remove(row))}>
          删除
        </Button>
      </span>
    ),
  },
];

/** Groups of people: what they pay of each price. */
export const PeopleGroups = () => {
  const [open, setOpen] = useState<PeopleGroup | 'new'>();
  const groups = useCall('peopleGroups', {});
  const row = open === 'new' ? undefined : open;
  const close = () => setOpen(undefined);
  return (
    <>
      <p className="row">
        <Button size="small" onClick={() => setOpen('new')}>
          新建用户组
        </Button>
      </p>
      <DataTable
        name="用户组"
        columns={columns}
        {...listProps(groups)}
        rowKey={({ id }) => String(id)}
        empty={{
          icon: 'people',
          text: '还没有用户组。组里的人付所有价格的几分之几或几倍，也可以有专用的服务。',
        }}
        onOpen={setOpen}
      />
      <Sheet open={open !== undefined} onClose={close} title={row?.name ?? '新建用户组'}>
        {open !== undefined && (
          <Form
            key={row?.id ?? 'new'}
            fields={[
              { name: 'name', label: '名称', kind: 'text', required: true, max: 40 },
              {
                name: 'factor',
                label: '价格倍率',
                kind: 'number',
                required: true,
                min: 0.01,
                max: 100,
                step: 0.01,
                hint: '0.8 是八折，1 是原价。聊天、画图、视频、语音、训练和开发者 API 都乘以它，进行中的按结束时的倍率',
              },
            ]}
            initial={{ name: row?.name ?? '', factor: row?.factor ?? 1 }}
            submit={row ? '保存' : '新建'}
            onSubmit={async (values) => {
              await api.savePeopleGroup(
                {
                  ...(row ? { id: row.id } : {}),
                  name: String(values['name']),
                  factor: Number(values['factor']),
                },
                { quiet: true },
              );
              toast('保存成功', 'success');
              close();
            }}
          />
        )}
      </Sheet>
    </>
  );
};
