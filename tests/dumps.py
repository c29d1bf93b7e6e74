"""A mysqldump of any size, the same for a size: the rows that it holds are known without reading it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

_HEAD: Final = """\
-- MySQL dump 10.13  Distrib 8.0.31, for Linux (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
-- Server version\t8.0.31

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;

USE `shop`;

DROP TABLE IF EXISTS `orders`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `orders` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `customer` varchar(80) COLLATE utf8mb4_unicode_ci NOT NULL,
  `state` enum('new','paid','sent') NOT NULL DEFAULT 'new',
  `total` decimal(12,2) DEFAULT NULL,
  `weight` double DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  `day` date DEFAULT NULL,
  `note` text,
  `bytes` varbinary(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `by_customer` (`customer`)
) ENGINE=InnoDB AUTO_INCREMENT=1000000 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `orders` WRITE;
/*!40000 ALTER TABLE `orders` DISABLE KEYS */;
"""
_TAIL: Final = """\
/*!40000 ALTER TABLE `orders` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
-- Dump completed on 2024-05-01 10:00:00
"""
# Cells as a dump writes them, and as Canal's messages do.
_NAMES: Final = (("'Ann'", "Ann"), ("'O\\'Neil'", "O'Neil"), ("'李雷 😀'", "李雷 😀"), ("'a\\\\b'", "a\\b"))
_NOTES: Final = (
    ("NULL", None), ("''", ""), ("'two\\nlines, with \\'quotes\\''", "two\nlines, with 'quotes'"),
    ("'); DROP TABLE `orders`; -- '", "); DROP TABLE `orders`; -- "), ("'" + "long " * 40 + "'", "long " * 40),
)  # fmt: skip
_BYTES: Final = (("NULL", None), ("0x00FF41", "\x00ÿA"), ("_binary 'ab'", "ab"))
_DAYS: Final = (("NULL", None), ("'2024-02-29'", "2024-02-29"))
_STATES: Final = ("new", "paid", "sent")  # numbers from 1 in the binlog
_ROWS_OF_A_STATEMENT: Final = 4000

Row = dict[str, str | None]


def rows(count: int) -> Iterator[tuple[str, Row]]:
    """Each row as the dump's text and as the values of Canal's messages."""
    random = Random(1)
    for id in range(1, count + 1):
        name, note, bytes_, day = (random.choice(cells) for cells in (_NAMES, _NOTES, _BYTES, _DAYS))
        state, total, weight = random.randrange(3), random.randrange(10**8), random.randrange(1, 999)
        created = f"2024-{random.randrange(1, 13):02}-{random.randrange(1, 29):02} 10:11:12.{random.randrange(1000):03}"
        amount = f"{total // 100}.{11 + total % 9}"  # Canal cuts zeros at the end
        text = f"({id},{name[0]},'{_STATES[state]}',{amount},{weight}.5,'{created}',{day[0]},{note[0]},{bytes_[0]})"
        cells = (str(id), name[1], str(state + 1), amount, f"{weight}.5", created, day[1], note[1], bytes_[1])
        columns = ("id", "customer", "state", "total", "weight", "created_at", "day", "note", "bytes")
        yield text, dict(zip(columns, cells, strict=True))


def dump(count: int) -> Iterator[str]:
    """The text of a dump of so many rows, piece by piece; a row has some 150 bytes."""
    yield _HEAD
    for number, (text, _) in enumerate(rows(count)):
        yield f"INSERT INTO `orders` VALUES {text}" if number % _ROWS_OF_A_STATEMENT == 0 else f",{text}"
        if number % _ROWS_OF_A_STATEMENT == _ROWS_OF_A_STATEMENT - 1 or number == count - 1:
            yield ";\n"
    yield _TAIL
