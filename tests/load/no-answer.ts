import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestClient } from '../support/client.ts';
import { knowledgeQuestions, oldTexts } from '../support/knowledge-questions.ts';
import { startServer } from '../support/server.ts';
import { unanswerableQuestions } from '../support/unanswerable-questions.ts';

/**
 * Whether a knowledge base says that it has nothing. The help pages and a few old texts are asked, in
 * a chat with the built-in assistant, 100 questions that they answer and 50 that they do not; told is
 * how many of each end with "资料里没有", and of how many answers a quoted source is the right one.
 *
 * npx tsx tests/load/no-answer.ts
 */
const server = await startServer({
  embedded: true,
  env: { ASSISTANT_RATE: '0', UPLOAD_LIMIT: '1000', MESSAGES_LIMIT: '100000' },
});
try {
  const person = await TestClient.register(server.baseURL);
  const { model } = await person.call('newTrainModel', { name: '帮助', key: 'pages', type: 0 });
  const folder = new URL('../../server/areas/help/pages/', import.meta.url);
  const files: [string, string][] = [
    ...readdirSync(folder).map((name): [string, string] => [
      name,
      readFileSync(new URL(name, folder), 'utf8'),
    ]),
    ...Object.entries(oldTexts),
  ];
  for (const [name, text] of files) {
    const form = new FormData();
    form.set('model_id', String(model.id));
    form.set('file', new Blob([text]), name);
    await fetch(`${server.baseURL}/api/train/upload_file`, {
      method: 'POST',
      headers: person.headers(),
      body: form,
    });
  }
  while ((await person.call('trainModel', { model_id: model.id })).model.over_num < files.length)
    await sleep(200);
  const { uuid } = await person.call('newSession', { embedding: 'pages' });
  const ask = async (msg: string) => {
    const { id } = await person.call('sendMessage', { session_id: uuid, msg, suggestion: 1 });
    await person.read(uuid, id);
    const { list } = await person.call('historyList', { session_id: uuid, id });
    const { ai = '', sources = [] } = list[0] ?? {};
    return {
      nothing: ai.startsWith('资料里没有'),
      cited: sources.filter(({ n }) => ai.includes(`[${n}]`)),
    };
  };
  let wrongly = 0;
  let right = 0;
  for (const [question, file, heading] of knowledgeQuestions) {
    const { nothing, cited } = await ask(question);
    if (nothing) wrongly += 1;
    if (cited.some(({ title, place }) => title === `${file}.md` && place.includes(heading)))
      right += 1;
  }
  const answered: string[] = [];
  for (const question of unanswerableQuestions)
    if (!(await ask(question)).nothing) answered.push(question);
  const none = unanswerableQuestions.length;
  console.log(
    `without an answer: "没有" ${none - answered.length} of ${none}; answered all the same: ${answered.join('；')}`,
  );
  console.log(
    `with an answer: "没有" ${wrongly} of ${knowledgeQuestions.length}; the right source quoted ${right} times`,
  );
} finally {
  await server.stop();
}
