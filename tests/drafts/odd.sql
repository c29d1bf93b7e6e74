-- Names, keys and types at the edges of what a scenario can say.
CREATE TABLE `a.b` (id int);
CREATE TABLE `ab` (`x y` int primary key, `null` varchar(20), `日本` varchar(10) comment 'a; b', `#h` int, ` s` int);
CREATE TABLE e (id int auto_increment primary key, `class` varchar(20) unique, `yes` enum('a''b','c,d','null','~',' x'), `1` int unique) partition by hash(id);
CREATE TABLE only_id (id tinyint auto_increment primary key);
CREATE TABLE only_ref (id tinyint, primary key (id), foreign key (id) references only_id(id));
CREATE TABLE self (id smallint primary key, p smallint not null, foreign key (p) references self(id));
CREATE TABLE uni (id bigint primary key, email varchar(20) unique, slug varchar(8) unique, k1 char(1) unique, uuid varchar(36) unique, code varchar(10) not null unique, b blob, unique key (b(10)), unique key ((id+1)));
create table big (v varchar(16000), v2 text, j json default (json_object()), g geometry not null srid 4326, ip varchar(15), s set('a','b'), t time, y year, bi binary(16) unique);
CREATE TABLE short_name (id tinyint primary key, name varchar(30) unique, code char(2) not null unique);
