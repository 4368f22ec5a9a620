node --test --test-reporter=dot agent.test.mjs
