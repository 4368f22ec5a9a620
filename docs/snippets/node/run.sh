npm install libacp
node client.mjs
