-- What each script leaves in the column v of t, or (@changed) the keys of the rows in the order in which its last
-- statement changes them, on MySQL 5.7.22, MySQL 8.0.31 and MariaDB 10.11.19. Each begins with these statements:
create database d; use d;
create table a(id int primary key, g varchar(5), n int, key(g));
insert into a values(1,'x',10),(2,'y',20),(3,'x',30),(4,null,40);
create table b(id int primary key, a_id int, q decimal(6,2));
insert into b values(1,1,1.5),(2,1,2.5),(3,2,4),(4,9,8);
create table t(id int auto_increment primary key, v varchar(200));

-- @rows 5.7 8.0 10.11: ["1:1", "1:2", "2:3", null, null]
insert into t(v) select concat(a.id,':',b.id) from a left join b on b.a_id=a.id order by a.id, b.id;

-- @rows 5.7 8.0 10.11: ["1:1", "1:2", "2:3", "4"]
insert into t(v) select concat_ws(':',a.id,b.id) from a right join b on b.a_id=a.id order by b.id;

-- @rows 5.7 8.0 10.11: ["1101.50", "2202.50", "3304.00", "4408.00"]
insert into t(v) select concat(id,n,q) from a join b using(id) order by id;

-- @rows 5.7 8.0 10.11: ["1101.50", "2202.50"]
insert into t(v) select concat(id,n,q) from a natural join b where id<3 order by id;

-- @rows 5.7 8.0 10.11: ["8.00", "4.00", "4.00"]
insert into t(v) select x.s from (select a_id, sum(q) s from b group by a_id having sum(q)>3) x order by 1 desc;

-- @rows 5.7 8.0 10.11: ["20"]
insert into t(v) select n from a where exists(select 1 from b where b.a_id=a.id) and n > (select min(n) from a);

-- @rows 5.7 8.0 10.11: ["1,40,40.0000", "x,2,40,20.0000", "y,1,20,20.0000"]
insert into t(v) select concat_ws(',', g, count(*), sum(n), avg(n)) from a group by g order by g;

-- @rows 5.7 8.0 10.11: ["y;x"]
insert into t(v) select group_concat(distinct g order by g desc separator ';') from a;

-- @rows 8.0: ["[1, 2]"]
insert into t(v) select json_arrayagg(id) from a where n<30;

-- @rows 10.11: ["{\"k\": [1,2], \"o\": {\"1\":\"x\", \"2\":\"y\"}}"]
insert into t(v) select json_object('k', json_arrayagg(id), 'o', json_objectagg(id,g)) from a where n<30;

-- @rows 8.0 10.11: ["1", "4", "9", "16"]
insert into t(v) with recursive c(n) as (select 1 union all select n+1 from c where n<4) select n*n from c;

-- @rows 8.0 10.11: ["1:2:10", "2:1:30", "3:1:60", "4:1:100"]
insert into t(v) select concat(id,':',row_number() over(partition by g order by n desc),':',sum(n) over(order by id))
  from a order by id;

-- @rows 8.0 10.11: ["2", "4,10", "2,20", "1,30"]
insert into t(v) select concat_ws(',', rank() over(order by g), lag(n,1) over(order by id)) from a order by id;

-- @rows 8.0 10.11: ["4", "3"]
insert into t(v) select id from a except select a_id from b;

-- @rows 5.7 8.0 10.11: ["11", "20", "30", "40", "0.00", "0.00", "4.00", "8.00"]
update a join b on b.a_id=a.id set a.n=a.n+b.id, b.q=0 where a.g='x'; insert into t(v) select n from a;
  insert into t(v) select q from b;

-- @rows 5.7 8.0 10.11: ["4", "3", "2", "b3", "b4"]
delete a, b from a join b on b.a_id=a.id where a.id=1; insert into t(v) select concat(id) from a;
  insert into t(v) select concat('b',id) from b;

-- @rows 5.7 8.0 10.11: ["1", "2", "3"]
delete from b using b left join a on a.id=b.a_id where a.id is null; insert into t(v) select id from b;

-- @rows 5.7 8.0 10.11: ["1.5017", "2.5027", "4.0037", "8.0047"]
insert into a(id,g,n) select id,'z',7 from b on duplicate key update n=a.n+values(n), g=b.q;
  insert into t(v) select concat(g,n) from a;

-- @rows 8.0: ["15"]
insert into a(id,n) values(1,5) as new on duplicate key update n=a.n+new.n;
  insert into t(v) select n from a where id=1;

-- @rows 5.7 8.0 10.11: ["11", "21"]
create view w as select id, n as m from a where n<30; update w set m=m+1 where id<9; insert into t(v) select m from w;

-- @rows 5.7 8.0 10.11: ["3y"]
set @n:=0; update a set n=(@n:=@n+1) order by id desc; select n, g into @x, @y from a where id=2;
  insert into t(v) values(concat(@x,@y));

-- @rows 5.7 8.0 10.11: ["k", "k1"]
set @s='insert into t(v) values(?),(concat(?,1))', @p='k'; prepare s from @s; execute s using @p,@p;
  deallocate prepare s;

-- @rows 5.7 8.0 10.11: ["2", "4", "3"]
delimiter //
create procedure p(in x int, out y int) begin declare i int default 0; w: while true do set i=i+1;
  if i>x then leave w; end if; insert into t(v) values(i*2); end while; set y=i; end//
call p(2,@y)//
insert into t(v) values(@y) //

-- @rows 5.7 8.0 10.11: ["low10", "low20", "30", "40"]
delimiter //
create procedure p() begin declare k int; declare done int default 0;
  declare c cursor for select n from a order by id; declare continue handler for not found set done=1; open c;
  r: loop fetch c into k; if done then leave r; end if; case when k<25 then insert into t(v) values(concat('low',k));
  else insert into t(v) values(k); end case; end loop; close c; end//
call p() //

-- @rows 5.7 8.0 10.11: ["f20", "f40"]
delimiter //
create function f(x int) returns varchar(20) deterministic return concat('f',x*2)//
insert into t(v) select f(n) from a where id<3 //

-- @rows 5.7 8.0 10.11: ["back"]
delimiter //
create procedure p() begin declare exit handler for sqlexception begin rollback; insert into t(v) values('back');
  end; start transaction; insert into t(v) values('gone'); insert into a values(1,'dup',0); commit; end//
call p() //

-- @rows 5.7 8.0 10.11: ["Q40"]
delimiter //
create trigger g before insert on a for each row begin if new.n is null then set new.n=old_max(); end if;
  set new.g=upper(new.g); end//
create function old_max() returns int reads sql data return (select max(n) from a)//
insert into a values(7,'q',null)//
insert into t(v) select concat(g,n) from a where id=7 //

-- @rows 5.7 8.0 10.11: ["d1"]
delimiter //
create trigger g after delete on a for each row insert into t(v) values(concat('d',old.id))//
replace into a values(1,'z',1),(8,'z',1) //

-- @changed 5.7: [1, 2, 3]
update a set n=0 where g>'a';

-- @changed 8.0: [1, 3, 2]
update a set n=0 where g>'a';

-- @changed 5.7 8.0 10.11: [1, 3, 4]
update a set n=0 where g='x' or id=4;

-- @changed 5.7 8.0 10.11: [4]
update a set n=0 where g is null;

-- @changed 5.7 8.0 10.11: [1, 2, 3, 4]
update a set n=0 where n>0;

-- @changed 5.7 8.0 10.11: [4, 3]
update a set n=0 order by n desc limit 2;

-- @changed 5.7 10.11: [1, 3, 4]
delete from a where g='x' or g is null;

-- @rows 5.7 8.0 10.11: ["2023-03-01 00:00:00", "y"]
create table e(id int primary key, at_ datetime, w enum('x','y')); insert into e values(1,'2023-01-01','x');
insert into e values(1,'2023-03-01','y') on duplicate key update at_=values(at_), w=values(w);
insert into t(v) select at_ from e; insert into t(v) select w from e;

-- @rows 8.0: ["{\"n\": 2.0}"]
create table e(j json); insert into e values('{"n": 1}'); update e set j=json_set(j,'$.n',json_extract(j,'$.n')+1);
insert into t(v) select j from e;

-- @rows 5.7 8.0 10.11: ["4", "1"]
select sql_calc_found_rows id from a limit 1; insert into t(v) values(found_rows()); select id from a limit 1;
insert into t(v) values(found_rows());

-- @rows 5.7 8.0 10.11: ["20", "1"]
create view rich as select id, n from a where n > 15; insert into rich(id,n) values(20,500); delete from rich where id=20;
insert into t(v) select min(n) from rich; insert into t(v) values(row_count());

-- @rows 5.7 8.0 10.11: ["1", "3"]
create table m(id int primary key) engine=myisam; begin; insert into m values(1); rollback; insert ignore into m values(3),(1);
insert into t(v) select id from m;
