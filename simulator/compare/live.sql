-- Runs in the simulator's own engine, as MySQL would run it. Nothing leaves this machine.
CREATE DATABASE shop;
USE shop;

CREATE TABLE orders (
  id BIGINT PRIMARY KEY,
  customer VARCHAR(20) NOT NULL,
  total DECIMAL(10,2),
  paid TINYINT(1) NOT NULL DEFAULT 0
);

INSERT INTO orders (id, customer, total) VALUES (1, 'Ada', 100.00), (2, 'Grace', 12.30);

UPDATE orders SET paid = 1 WHERE customer = 'Grace';

BEGIN;
DELETE FROM orders WHERE id = 1;
INSERT INTO orders VALUES (3, '张伟 😀', NULL, 0);
COMMIT;

ALTER TABLE orders ADD COLUMN channel VARCHAR(16) DEFAULT 'web';
