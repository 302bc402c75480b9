module.exports = {
  rihla: {
    input: './generated/openapi.json',
    output: { target: 'generated/orval/client.ts', schemas: 'generated/orval/model', client: 'fetch', mode: 'split' },
  },
};
