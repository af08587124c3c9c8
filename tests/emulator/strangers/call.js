// Calls an emulator with clients of npm, whose packages NODE_PATH leads to. Prints one line of JSON.
// They call the hosts that are built into them; every connection is led to the port of the emulator.
const tls = require('tls');

const env = process.env;
const connect = tls.connect;
tls.connect = (options, ...rest) =>
  connect({ ...options, host: '127.0.0.1', port: Number(env.EMULATOR_PORT) }, ...rest);

const keys = {
  consumer_key: env.AUDIENCEKIT_CONSUMER_KEY,
  consumer_secret: env.AUDIENCEKIT_CONSUMER_SECRET,
  access_token: env.AUDIENCEKIT_ACCESS_TOKEN,
  access_token_secret: env.AUDIENCEKIT_ACCESS_TOKEN_SECRET,
};
const campaigns = `accounts/${env.AUDIENCEKIT_ACCOUNT_ID}/campaigns`;
const campaign = (funding) => ({
  funding_instrument_id: funding,
  name: 'Spring & more: a+b 100%',
  daily_budget_amount_local_micro: 1000000,
  entity_status: 'PAUSED',
});

async function throughTwitterApi() {
  const { TwitterApi } = require('twitter-api-v2');
  const { ads } = new TwitterApi({
    appKey: keys.consumer_key, appSecret: keys.consumer_secret,
    accessToken: keys.access_token, accessSecret: keys.access_token_secret,
  });
  const funding = await ads.get(`accounts/${env.AUDIENCEKIT_ACCOUNT_ID}/funding_instruments`);
  const made = await ads.post(campaigns, campaign(funding.data[0].id), { forceBodyMode: 'url' });
  const changed = await ads.put(`${campaigns}/${made.data.id}`, { name: 'Summer' }, { forceBodyMode: 'url' });
  const listed = await ads.get(campaigns, { with_deleted: true });
  return [made.data.name, changed.data.name, listed.data.length];
}

async function throughTwitterAds() {
  const Client = require('twitter-ads');
  const client = new Client({ ...keys, sandbox: false, api_version: '12' });
  const call = (method, path, query) => new Promise((resolve, reject) => {
    client[method](path, query, (error, response, body) => (error ? reject(error) : resolve(body.data)));
  });
  const account = { account_id: env.AUDIENCEKIT_ACCOUNT_ID };
  const funding = await call('get', 'accounts/:account_id/funding_instruments', account);
  const made = await call('post', 'accounts/:account_id/campaigns', { ...account, ...campaign(funding[0].id) });
  const one = { ...account, campaign_id: made.id };
  const changed = await call('put', 'accounts/:account_id/campaigns/:campaign_id', { ...one, name: 'Summer' });
  const listed = await call('get', 'accounts/:account_id/campaigns', { ...account, with_deleted: true });
  return [made.name, changed.name, listed.length];
}

const ways = { 'twitter-api-v2': throughTwitterApi, 'twitter-ads': throughTwitterAds };
ways[process.argv[2]]().then(
  (found) => console.log(JSON.stringify(found)),
  (error) => { console.error(error.message, JSON.stringify(error.data || {})); process.exit(1); },
);
