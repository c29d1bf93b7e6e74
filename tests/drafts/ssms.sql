-- Derived from the layout of scripts of SQL Server Management Studio; made for this test.
USE [master]
GO
CREATE DATABASE [Shop]
GO
USE [Shop]
GO
/****** Object:  Table [dbo].[Customers] ******/
SET ANSI_NULLS ON
GO
CREATE TYPE [dbo].[Name] FROM [nvarchar](50) NOT NULL
GO
CREATE TABLE [dbo].[Customers](
	[Id] [int] IDENTITY(1,1) NOT NULL,
	[FullName] [dbo].[Name],
	[Email] [nvarchar](120) COLLATE Latin1_General_CI_AS NOT NULL,
	[Balance] [decimal](18, 2) NOT NULL,
	[CreatedAt] [datetime2](7) NOT NULL,
	[Guid] [uniqueidentifier] ROWGUIDCOL NOT NULL,
	[Notes] [nvarchar](max) NULL,
	[V] [timestamp] NOT NULL,
	[Total]  AS ([Balance]*(2)) PERSISTED,
	[Bit] bit null, m money, x xml, h hierarchyid, g geography, dto datetimeoffset(3), vb varbinary(max), sv sql_variant,
 CONSTRAINT [PK_Customers] PRIMARY KEY CLUSTERED 
(
	[Id] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
CREATE TABLE [Sales].[Orders](
	[Id] [bigint] IDENTITY(1,1) NOT NULL PRIMARY KEY,
	[CustomerId] [int] NOT NULL, Status varchar(10) NOT NULL)
GO
INSERT [dbo].[Customers] ([Id]) VALUES (1)
INSERT [dbo].[Customers] ([Id]) VALUES (2)
GO
ALTER TABLE [dbo].[Customers] ADD  CONSTRAINT [DF_C]  DEFAULT (getdate()) FOR [CreatedAt]
GO
ALTER TABLE [dbo].[Customers] ADD  DEFAULT ((0)) FOR [Balance]
GO
ALTER TABLE [Sales].[Orders]  WITH CHECK ADD  CONSTRAINT [FK_O] FOREIGN KEY([CustomerId])
REFERENCES [dbo].[Customers] ([Id])
ON DELETE CASCADE
GO
ALTER TABLE [Sales].[Orders] CHECK CONSTRAINT [FK_O]
GO
ALTER TABLE [Sales].[Orders]  WITH CHECK ADD CHECK  (([Status]='paid' OR [Status]='new'))
GO
CREATE UNIQUE NONCLUSTERED INDEX [UX] ON [dbo].[Customers] ([Email] ASC) WITH (PAD_INDEX = OFF)
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'it''s' 
GO
