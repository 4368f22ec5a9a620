npm install libacp
node observer.mjs
