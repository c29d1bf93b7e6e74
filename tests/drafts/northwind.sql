# In the style of Northwind: names with blanks, text keys, references to itself, keys of several columns, no key.
create table Customers (CustomerID char(5) not null, CompanyName varchar(40) not null, ContactName varchar(30), City varchar(15),
  Country varchar(15), Phone varchar(24), primary key (CustomerID));
create table Employees (EmployeeID mediumint not null auto_increment, LastName varchar(20) not null, BirthDate datetime, Photo longblob,
  ReportsTo mediumint, Salary float, primary key (EmployeeID), foreign key (ReportsTo) references Employees (EmployeeID));
create table Orders (OrderID int not null auto_increment, CustomerID char(5), EmployeeID mediumint, OrderDate datetime,
  ShippedDate datetime, Freight decimal(10,4) default 0, primary key (OrderID),
  foreign key (CustomerID) references Customers (CustomerID), foreign key (EmployeeID) references Employees (EmployeeID));
create table `Order Details` (OrderID int not null, ProductID int not null, UnitPrice decimal(10,4) not null default 0,
  Quantity smallint not null default 1, Discount real not null default 0, primary key (OrderID, ProductID),
  foreign key (OrderID) references Orders (OrderID), foreign key (ProductID) references Products (ProductID));
create table Products (ProductID int not null auto_increment primary key, ProductName varchar(40) not null, QuantityPerUnit varchar(20),
  UnitPrice decimal(10,4), Discontinued bit not null default b'0', `to` varchar(10), ean bigint unique);
create table prices (product_id int not null, valid_from date not null, price decimal(8,2), primary key (product_id, valid_from),
  foreign key (product_id) references Products (ProductID));
create table lines_of (order_id int not null, line smallint not null, note varchar(20), primary key (order_id, line),
  foreign key (order_id) references Orders (OrderID));
create table details_of (order_id int, product_id int, foreign key (order_id, product_id) references `Order Details` (OrderID, ProductID));
create table Notes (note text);
create table blobs (id binary(16) primary key, name varchar(10));
